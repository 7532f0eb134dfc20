-- name: below
SELECT id, relative_path, size_bytes FROM library_files
WHERE library_id = :library_id AND is_missing = 0
    AND (relative_path = :path OR (relative_path > :first AND relative_path < :beyond))
ORDER BY relative_path LIMIT 20000;

-- name: whole
SELECT id, relative_path, size_bytes FROM library_files
WHERE library_id = :library_id AND is_missing = 0 ORDER BY relative_path LIMIT 20000;
