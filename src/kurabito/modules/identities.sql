-- name: of_key
SELECT service_type, service_name FROM module_keys WHERE key_id = :key_id;

-- name: other_key
-- A key that was revoked has let its module go.
SELECT api_keys.id, api_keys.name FROM module_keys JOIN api_keys ON api_keys.id = module_keys.key_id
WHERE module_keys.service_type = :service_type AND module_keys.service_name = :service_name
    AND module_keys.key_id <> :key_id AND api_keys.revoked_at IS NULL;

-- name: bind
INSERT INTO module_keys (key_id, service_type, service_name, bound_at)
VALUES (:key_id, :service_type, :service_name, :now);
