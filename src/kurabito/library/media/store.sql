-- name: ended
SELECT id, folder, paths, status, error_code FROM inspections
WHERE kind = 'media' AND status IN ('completed', 'failed', 'cancelled') ORDER BY id LIMIT 20;

-- name: collect
-- By the paths of its library as they are now: what was moved or changed meanwhile is read again.
INSERT INTO media_facts (file_id, size_bytes, mtime_ns, facts, error_code, read_at)
SELECT file.id, seen.size_bytes, seen.mtime_ns, seen.facts, seen.error_code, :now
FROM inspected_media AS seen CROSS JOIN library_roots AS library CROSS JOIN library_files AS file
WHERE seen.inspection_id = :id AND library.root_path = :folder AND file.library_id = library.id
    AND file.relative_path = seen.relative_path AND (seen.facts IS NULL OR length(seen.facts) <= :longest)
ON CONFLICT (file_id) DO UPDATE
SET size_bytes = excluded.size_bytes, mtime_ns = excluded.mtime_ns, facts = excluded.facts, error_code = excluded.error_code,
    read_at = excluded.read_at;

-- name: give_up
INSERT INTO media_facts (file_id, size_bytes, mtime_ns, error_code, read_at)
SELECT file.id, file.size_bytes, file.mtime_ns, :error_code, :now
FROM {given} CROSS JOIN library_roots AS library CROSS JOIN library_files AS file
WHERE library.root_path = :folder AND file.library_id = library.id AND file.relative_path = given.value ->> 'path'
ON CONFLICT (file_id) DO NOTHING;

-- name: forget_inspection
DELETE FROM inspections WHERE id = :id AND kind = 'media';

-- name: count_open
SELECT count(*) FROM inspections WHERE kind = 'media' AND status IN ('pending', 'running');

-- name: last_file
SELECT max(id) FROM library_files;

-- name: unread
SELECT file.id, file.library_id, file.relative_path FROM library_files AS file
WHERE file.id > :after AND file.id <= :until AND file.is_missing = 0
    AND NOT EXISTS (SELECT 1 FROM media_facts AS known
                    WHERE known.file_id = file.id AND known.size_bytes = file.size_bytes AND known.mtime_ns = file.mtime_ns)
ORDER BY file.id;

-- name: forget_gone
DELETE FROM media_facts WHERE file_id > :after AND file_id <= :until
    AND NOT EXISTS (SELECT 1 FROM library_files AS file WHERE file.id = media_facts.file_id);

-- name: request
-- `planned_at` is that of arrivals, from which files are filed: nothing is to be filed from these.
INSERT INTO inspections (kind, folder, paths, planned_at, created_at, updated_at)
SELECT 'media', library.root_path, :paths, :now, :now, :now FROM library_roots AS library WHERE library.id = :library_id;

-- name: of_files
SELECT known.file_id, known.facts, known.error_code
FROM {given} CROSS JOIN media_facts AS known CROSS JOIN library_files AS file
WHERE known.file_id = CAST(given.value AS bigint) AND file.id = known.file_id AND file.size_bytes = known.size_bytes
    AND file.mtime_ns = known.mtime_ns;
