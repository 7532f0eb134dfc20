-- name: page_open
SELECT {match} FROM folder_matches
WHERE metadata_id IS NULL AND is_ignored = 0 AND id > :after
  AND (CAST(:library_id AS bigint) IS NULL OR library_id = :library_id)
  AND NOT ({is_told})
ORDER BY id LIMIT :limit;

-- name: page_ignored
SELECT {match} FROM folder_matches
WHERE is_ignored = 1 AND id > :after AND (CAST(:library_id AS bigint) IS NULL OR library_id = :library_id)
ORDER BY id LIMIT :limit;

-- name: page_matched
SELECT {match} FROM folder_matches
WHERE metadata_id IS NOT NULL AND is_ignored = 0 AND matched_by <> 'keeper' AND id > :after
  AND (CAST(:library_id AS bigint) IS NULL OR library_id = :library_id)
ORDER BY id LIMIT :limit;

-- name: page_chosen
SELECT {match} FROM folder_matches
WHERE metadata_id IS NOT NULL AND is_ignored = 0 AND matched_by = 'keeper' AND id > :after
  AND (CAST(:library_id AS bigint) IS NULL OR library_id = :library_id)
ORDER BY id LIMIT :limit;

-- name: get
SELECT {match} FROM folder_matches WHERE id = :id;

-- name: count_open
SELECT count(*) FROM folder_matches WHERE metadata_id IS NULL AND is_ignored = 0 AND NOT ({is_told});

-- name: count_left
SELECT count(*) FROM folder_matches WHERE metadata_id IS NULL AND is_ignored = 0 AND job_id = :job_id;

-- name: of_records
SELECT DISTINCT folder_matches.metadata_id, folder_matches.library_id, folder_matches.folder
FROM {given} CROSS JOIN folder_matches WHERE folder_matches.metadata_id = CAST(given.value ->> 'id' AS bigint)
ORDER BY folder_matches.metadata_id, folder_matches.library_id, folder_matches.folder;

-- name: choose
UPDATE folder_matches
SET metadata_id = :metadata_id, series_id = NULL, matched_by = :matched_by, is_ignored = :is_ignored, reasons = '[]',
    updated_at = :now
WHERE id = :id;

-- name: known
SELECT folder_matches.folder
FROM {given} CROSS JOIN folder_matches
WHERE folder_matches.library_id = :library_id AND folder_matches.folder = given.value ->> 'folder';

-- name: add
INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, metadata_id, series_id, matched_by, reasons, candidates,
                            created_at, updated_at)
SELECT :library_id, given.value ->> 'folder', given.value ->> 'reading', CAST(given.value ->> 'file_id' AS bigint), :job_id,
       CAST(given.value ->> 'metadata_id' AS bigint), CAST(given.value ->> 'series_id' AS bigint),
       given.value ->> 'matched_by', given.value ->> 'reasons', given.value ->> 'candidates', :now, :now
FROM {given} WHERE true
ON CONFLICT (library_id, folder) DO NOTHING;

-- name: settle
-- A keeper who chose meanwhile has the last word.
UPDATE folder_matches
SET metadata_id = :metadata_id, series_id = :series_id, matched_by = :matched_by, reasons = :reasons,
    candidates = :candidates, asked_at = coalesce(:asked_at, asked_at), updated_at = :now
WHERE id = :id AND metadata_id IS NULL AND is_ignored = 0;

-- name: unasked
SELECT {match} FROM folder_matches
WHERE metadata_id IS NULL AND is_ignored = 0 AND id > :after
  AND (asked_at IS NULL OR asked_at < :now - :cool_down)
ORDER BY id LIMIT :limit;

-- name: ask_again
UPDATE folder_matches SET asked_at = NULL WHERE metadata_id IS NULL AND is_ignored = 0 AND asked_at IS NOT NULL;

-- name: moved
-- Where the file by which a folder is known again lies now.
SELECT folder_matches.id, folder_matches.folder, library_files.relative_path
FROM folder_matches JOIN library_files ON library_files.id = folder_matches.file_id
WHERE folder_matches.library_id = :library_id AND library_files.library_id = :library_id AND library_files.is_missing = 0;

-- name: move
UPDATE folder_matches SET folder = :folder, updated_at = :now
WHERE id = :id AND NOT EXISTS (
    SELECT 1 FROM folder_matches AS other WHERE other.library_id = folder_matches.library_id AND other.folder = :folder);

-- name: forget_gone
-- What the keeper chose stays: the folder may be on a disk that is away for a while. '0' is what comes behind '/'.
DELETE FROM folder_matches
WHERE library_id = :library_id AND is_ignored = 0 AND (matched_by IS NULL OR matched_by <> 'keeper')
  AND NOT EXISTS (
    SELECT 1 FROM library_files
    WHERE library_files.library_id = folder_matches.library_id AND library_files.is_missing = 0
      AND library_files.relative_path > folder_matches.folder || '/'
      AND library_files.relative_path < folder_matches.folder || '0');

-- name: look
SELECT session_id, file_id FROM folder_looks WHERE library_id = :library_id;

-- name: scans_since
SELECT coalesce(max(id), 0), coalesce(sum(moved_count), 0), coalesce(sum(removed_count), 0) FROM scan_sessions
WHERE library_id = :library_id AND id > :session_id;

-- name: note_look
INSERT INTO folder_looks (library_id, session_id, file_id) VALUES (:library_id, :session_id, :file_id)
ON CONFLICT (library_id) DO UPDATE SET session_id = :session_id, file_id = :file_id;

-- name: files_after
-- The plus keeps SQLite from reading all files of the library by their paths, to sort them then.
SELECT id, relative_path FROM library_files
WHERE +library_id = :library_id AND id > :after AND is_missing = 0 ORDER BY id LIMIT :limit;
