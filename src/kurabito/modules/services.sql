-- name: register
-- Only over the instance that was seen: an instance that came in between is looked at again. Priority and switch are the user's.
INSERT INTO service_modules (service_type, service_name, host, port, instance_id, token, fetch_endpoint, download_endpoint,
                             sync_endpoint, priority, registered_at, last_seen_at)
VALUES (:service_type, :service_name, :host, :port, :instance_id, :token, :fetch_endpoint, :download_endpoint,
        :sync_endpoint, :priority, :now, :now)
ON CONFLICT (service_type, service_name) DO UPDATE
SET host = excluded.host, port = excluded.port, instance_id = excluded.instance_id, token = excluded.token,
    fetch_endpoint = excluded.fetch_endpoint, download_endpoint = excluded.download_endpoint,
    sync_endpoint = excluded.sync_endpoint,
    priority = CASE service_modules.priority_is_set WHEN 1 THEN service_modules.priority ELSE excluded.priority END,
    registered_at = excluded.registered_at, last_seen_at = excluded.last_seen_at, unreachable_since = NULL
WHERE service_modules.instance_id = CAST(:seen AS text)
RETURNING module_id;

-- name: drop_capabilities
DELETE FROM downloader_capabilities WHERE module_id = :module_id;

-- name: add_capability
INSERT INTO downloader_capabilities (module_id, download_type) VALUES (:module_id, :download_type);

-- name: named
SELECT {service} FROM service_modules WHERE service_type = :service_type AND service_name = :service_name;

-- name: get
SELECT {service} FROM service_modules WHERE module_id = :module_id;

-- name: page
SELECT {service} FROM service_modules WHERE module_id > :after ORDER BY module_id LIMIT :limit;

-- name: able
SELECT {service} FROM service_modules JOIN downloader_capabilities USING (module_id)
WHERE download_type = :download_type AND is_enabled = 1 AND service_type = 'downloader'
ORDER BY priority DESC, module_id;

-- name: capabilities
SELECT download_type FROM downloader_capabilities WHERE module_id = :module_id ORDER BY download_type;

-- name: set_priority
UPDATE service_modules SET priority = :priority, priority_is_set = 1 WHERE module_id = :module_id;

-- name: set_enabled
UPDATE service_modules SET is_enabled = :is_enabled WHERE module_id = :module_id;

-- name: set_tidies
UPDATE service_modules SET tidies = :tidies WHERE module_id = :module_id;

-- name: remove
DELETE FROM service_modules WHERE module_id = :module_id;
