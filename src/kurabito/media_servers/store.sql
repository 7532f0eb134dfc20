-- name: add
INSERT INTO media_servers (kind, name, url, token, path_maps, is_enabled, created_at, updated_at)
VALUES (:kind, :name, :url, :token, :path_maps, :is_enabled, :now, :now)
RETURNING id;

-- name: by_name
SELECT id FROM media_servers WHERE name = :name;

-- name: everything
SELECT {server} FROM media_servers ORDER BY id;

-- name: enabled
SELECT id FROM media_servers WHERE is_enabled = 1 ORDER BY id;

-- name: change
UPDATE media_servers
SET kind = :kind, name = :name, url = :url, token = :token, path_maps = :path_maps, is_enabled = :is_enabled, updated_at = :now
WHERE id = :id;

-- name: remove
DELETE FROM media_servers WHERE id = :id;

-- name: note_success
UPDATE media_servers SET failures = 0, error_code = NULL, error_message = NULL, last_success_at = :now WHERE id = :id;

-- name: note_failure
UPDATE media_servers
SET failures = failures + 1, error_code = :error_code, error_message = :error_message, last_failure_at = :now WHERE id = :id;

-- name: placed
-- A source without a root of its own lies in the library, and is gone from there when it was renamed.
SELECT library.root_path, placement.target_path, placement.source_path,
       placement.mode = 'rename' AND placement.source_root IS NULL
FROM placements AS placement JOIN library_roots AS library ON library.id = placement.library_id
WHERE placement.id {among ids} AND placement.method <> 'found'
    -- That the folder for downloads has a file no more is no news of a library.
    AND placement.is_placed = 0;

-- name: hold
UPDATE media_servers SET failures = failures WHERE id = :id;

-- name: recent
SELECT 1 FROM media_server_notices WHERE server_id = :id AND noted_at > :now - CAST(:orphaned AS bigint) LIMIT 1;

-- name: note_folder
INSERT INTO media_server_notices (server_id, folder, noted_at) VALUES (:id, :folder, :now)
ON CONFLICT (server_id, folder) DO UPDATE SET noted_at = excluded.noted_at;

-- name: notices
SELECT folder, noted_at FROM media_server_notices WHERE server_id = :id ORDER BY noted_at, folder LIMIT :limit;

-- name: forget_notice
DELETE FROM media_server_notices WHERE server_id = :id AND folder = :folder AND noted_at = :noted_at;

-- name: forget_notices
DELETE FROM media_server_notices WHERE server_id = :id;
