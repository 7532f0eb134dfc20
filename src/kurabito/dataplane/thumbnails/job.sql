-- name: source
SELECT root.root_path, file.relative_path
FROM library_files AS file JOIN library_roots AS root ON root.id = file.library_id
WHERE file.id = :file_id;
