-- name: request
INSERT INTO inspections (kind, folder, paths, created_at, updated_at) VALUES (:kind, :folder, :paths, :now, :now) RETURNING id;

-- name: status
SELECT status, error_code FROM inspections WHERE id = :id;

-- name: folder
SELECT folder FROM inspections WHERE id = :id;

-- name: files
SELECT relative_path, size_bytes, mtime_ns FROM inspected_files WHERE inspection_id = :id ORDER BY position;

-- name: give_up
UPDATE inspections SET status = 'cancelled', finished_at = :now, updated_at = :now WHERE id = :id AND status = 'pending';
