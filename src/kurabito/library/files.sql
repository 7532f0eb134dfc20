-- name: files
SELECT {file} FROM library_files AS file
{same}
WHERE file.library_id = :id AND file.relative_path > :after
  AND (CAST(:missing AS integer) IS NULL OR file.is_missing = :missing)
  AND (CAST(:contains AS text) IS NULL OR lower(file.relative_path) LIKE lower(:contains) ESCAPE '\')
ORDER BY file.relative_path LIMIT :limit;
