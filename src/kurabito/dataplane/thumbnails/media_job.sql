-- name: forget
DELETE FROM inspected_media WHERE inspection_id = :id;

-- name: add
INSERT INTO inspected_media (inspection_id, relative_path, size_bytes, mtime_ns, facts, error_code)
VALUES (:id, :path, :size_bytes, :mtime_ns, :facts, :error_code);
