-- name: store
INSERT INTO deletion_policy (id, allow_delete, updated_at) VALUES (1, :allow_delete, :now)
ON CONFLICT (id) DO UPDATE SET allow_delete = excluded.allow_delete, updated_at = excluded.updated_at;

-- name: is_allowed
SELECT 1 AS allowed WHERE {may_remove};
