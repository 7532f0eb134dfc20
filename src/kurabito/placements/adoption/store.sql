-- name: due
SELECT library.id
FROM library_roots AS library LEFT JOIN library_adoptions AS adoption ON adoption.library_id = library.id
WHERE library.removing_since IS NULL AND library.last_scanned_at IS NOT NULL
    AND (adoption.adopted_at IS NULL OR adoption.adopted_at < library.last_scanned_at
         OR EXISTS (SELECT 1 FROM folder_matches AS match
                    WHERE match.library_id = library.id AND match.updated_at > adoption.adopted_at))
ORDER BY library.id;

-- name: looks
SELECT folder, metadata_id, is_ignored, reading, candidates FROM folder_matches WHERE library_id = :library_id ORDER BY folder;

-- name: files
SELECT id, relative_path, size_bytes FROM library_files
WHERE library_id = :library_id AND relative_path > :after AND is_missing = 0
ORDER BY relative_path LIMIT :limit;

-- name: adopted
SELECT folder, fingerprint FROM adopted_folders WHERE library_id = :library_id;

-- name: fixed
-- What was placed, or given by a person, is no matter of names.
SELECT DISTINCT had.file_id FROM {given} CROSS JOIN episode_files AS had
WHERE had.file_id = CAST(given.value AS bigint) AND had.given_by <> 'name';

-- name: forget
DELETE FROM episode_files
WHERE given_by = 'name' AND file_id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING episode_id;

-- name: add_episodes
INSERT INTO episodes (series_id, kind, number, state, created_at, updated_at)
SELECT DISTINCT CAST(given.value ->> 'series_id' AS bigint), given.value ->> 'kind',
       CAST(given.value ->> 'number' AS double precision), 'have', CAST(:now AS bigint), CAST(:now AS bigint)
FROM {given} WHERE true
ON CONFLICT (series_id, kind, number) DO NOTHING;

-- name: add_files
INSERT INTO episode_files (episode_id, file_id, given_by, created_at)
SELECT episode.id, CAST(given.value ->> 'file_id' AS bigint), :given_by, :now
FROM {given} CROSS JOIN episodes AS episode
WHERE episode.series_id = CAST(given.value ->> 'series_id' AS bigint) AND episode.kind = given.value ->> 'kind'
    AND episode.number = CAST(given.value ->> 'number' AS double precision)
ON CONFLICT DO NOTHING;

-- name: are_had
UPDATE episodes SET state = 'have', updated_at = :now
WHERE state = 'wanted' AND id IN (
    SELECT had.episode_id FROM {given} CROSS JOIN episode_files AS had
    WHERE had.file_id = CAST(given.value ->> 'file_id' AS bigint));

-- name: note_folder
INSERT INTO adopted_folders (library_id, folder, records, fingerprint) VALUES (:library_id, :folder, :records, :fingerprint)
ON CONFLICT (library_id, folder) DO UPDATE SET records = excluded.records, fingerprint = excluded.fingerprint;

-- name: forget_folders
DELETE FROM adopted_folders WHERE library_id = :library_id AND folder IN (SELECT given.value ->> 'folder' FROM {given});

-- name: note_library
INSERT INTO library_adoptions (library_id, adopted_at) VALUES (:library_id, :adopted_at)
ON CONFLICT (library_id) DO UPDATE SET adopted_at = excluded.adopted_at;

-- name: clear_unadopted
DELETE FROM unadopted_files WHERE library_id = :library_id;

-- name: add_unadopted
INSERT INTO unadopted_files (file_id, library_id, folder, reason, created_at)
SELECT CAST(given.value ->> 'file_id' AS bigint), :library_id, given.value ->> 'folder', given.value ->> 'reason', :now
FROM {given} WHERE true
ON CONFLICT (file_id) DO UPDATE SET folder = excluded.folder, reason = excluded.reason;

-- name: unadopted
SELECT {unadopted}
FROM unadopted_files AS unadopted JOIN library_files AS file ON file.id = unadopted.file_id
JOIN library_roots AS library ON library.id = unadopted.library_id
WHERE unadopted.file_id > :after AND file.is_missing = 0
    AND (CAST(:library_id AS bigint) IS NULL OR unadopted.library_id = :library_id)
    AND NOT EXISTS (SELECT 1 FROM episode_files AS had WHERE had.file_id = unadopted.file_id)
ORDER BY unadopted.file_id LIMIT :limit;

-- name: count_unadopted
SELECT count(*) FROM (
    SELECT 1 FROM unadopted_files AS unadopted JOIN library_files AS file ON file.id = unadopted.file_id
    WHERE file.is_missing = 0 AND NOT EXISTS (SELECT 1 FROM episode_files AS had WHERE had.file_id = unadopted.file_id)
    LIMIT :most) AS found;
