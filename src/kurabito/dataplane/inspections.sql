-- name: forget
DELETE FROM inspected_files WHERE inspection_id = :id;

-- name: add
INSERT INTO inspected_files (inspection_id, position, relative_path, size_bytes, mtime_ns, inode, device)
SELECT :id, position, relative_path, size_bytes, mtime_ns, inode, device FROM (<rows>) AS seen;
