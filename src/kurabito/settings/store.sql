-- name: stored
SELECT name, value FROM stored_settings ORDER BY name;

-- name: store
INSERT INTO stored_settings (name, value, changed_at) VALUES (:name, :value, :now)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at;

-- name: remove
DELETE FROM stored_settings WHERE name = :name;
