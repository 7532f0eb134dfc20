-- name: add_entry
-- A step that is under way lays down what tells of its file before the file is there.
INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, trashed_at)
SELECT :id, 0, :library_id, :relative_path, :trash_path, :size_bytes, :hash_algorithm, :content_hash, :now
WHERE NOT EXISTS (SELECT 1 FROM trash_entries WHERE id = :id)
  AND NOT EXISTS (SELECT 1 FROM deletion_log WHERE id = :id AND state = 'intent');

-- name: take_over
-- The entry of a library that is gone, or one that is said to have left and lies there all the same.
UPDATE trash_entries
SET library_id = :library_id, relative_path = :relative_path, trash_path = :trash_path, left_as = NULL, left_at = NULL
WHERE id = :id AND size_bytes = :size_bytes AND content_hash = :content_hash
  AND (left_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM library_roots WHERE library_roots.id = trash_entries.library_id))
  AND NOT EXISTS (SELECT 1 FROM deletion_log AS log WHERE log.trash_path = :trash_path AND log.state = 'intent');

-- name: trash_folders
-- Where files of a library were put: what stands before the slash and the 32 digits of a name.
SELECT DISTINCT substr(trash_path, 1, length(trash_path) - 33) FROM trash_entries
WHERE library_id = :library_id AND length(trash_path) > 33;

-- name: known
SELECT id FROM trash_entries WHERE library_id = :library_id;
