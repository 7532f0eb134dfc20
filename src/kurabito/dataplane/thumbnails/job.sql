-- name: is_due
-- Looking costs the others nothing; claiming makes them wait.
SELECT EXISTS (SELECT 1 FROM thumbnails WHERE status = 'pending' AND media_type = :media_type)
    OR EXISTS (SELECT 1 FROM thumbnails WHERE status = 'running' AND lease_expires_at IS NULL)
    OR EXISTS (SELECT 1 FROM thumbnails WHERE status = 'running' AND lease_expires_at <= :now);

-- name: source
SELECT root.root_path, file.relative_path
FROM library_files AS file JOIN library_roots AS root ON root.id = file.library_id
WHERE file.id = :file_id;
