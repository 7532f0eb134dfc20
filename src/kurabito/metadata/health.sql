-- name: note_success
INSERT INTO metadata_sources (name, succeeded_at) VALUES (:name, :now)
ON CONFLICT (name) DO UPDATE SET succeeded_at = excluded.succeeded_at;

-- name: note_failure
INSERT INTO metadata_sources (name, failed_at, error_code, error_message) VALUES (:name, :now, :code, :message)
ON CONFLICT (name) DO UPDATE
SET failed_at = excluded.failed_at, error_code = excluded.error_code, error_message = excluded.error_message;

-- name: all
SELECT {source} FROM metadata_sources;

-- name: failed_at
SELECT failed_at FROM metadata_sources WHERE name = :name;
