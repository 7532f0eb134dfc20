-- name: hidden
SELECT key FROM hidden_notices;

-- name: hide
INSERT INTO hidden_notices (key, hidden_at) VALUES (:key, :now) ON CONFLICT (key) DO NOTHING;

-- name: forget
DELETE FROM hidden_notices WHERE key {among keys};
