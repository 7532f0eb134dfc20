-- name: named
-- The last placement of a name tells what has it.
SELECT file.relative_path, file.size_bytes, file.mtime_ns, placement.named_by
FROM placements AS placement JOIN library_files AS file
    ON file.library_id = placement.library_id AND file.relative_path = placement.target_path
WHERE placement.library_id = :library_id AND placement.status = 'completed' AND placement.named_by IS NOT NULL
    AND placement.method <> 'found' AND placement.placed_inode = file.inode AND placement.placed_device = file.device
    AND file.is_missing = 0
ORDER BY placement.id;

-- name: paths
SELECT relative_path FROM library_files WHERE library_id = :library_id AND is_missing = 0;

-- name: own_folders
SELECT DISTINCT series.id, match.folder FROM folder_matches AS match
JOIN series ON series.id = match.series_id OR series.metadata_id = match.metadata_id
WHERE match.library_id = :library_id AND match.is_ignored = 0;

-- name: places
SELECT series_id, folder FROM series_places WHERE library_id = :library_id;

-- name: begin
INSERT INTO renamings (library_id, undoes_id, created_at) VALUES (:library_id, CAST(:undoes_id AS bigint), :now) RETURNING id;

-- name: rename
INSERT INTO placements (library_id, mode, source_path, size_bytes, source_mtime_ns, target_path, named_by, renaming_id,
                        created_at, updated_at)
SELECT CAST(:library_id AS bigint), 'rename', given.value ->> 'path', CAST(given.value ->> 'size' AS bigint),
       CAST(given.value ->> 'mtime_ns' AS bigint), given.value ->> 'target', given.value ->> 'named_by',
       CAST(:renaming_id AS bigint), CAST(:now AS bigint), CAST(:now AS bigint)
FROM {given} WHERE true
ORDER BY CAST(given.value ->> 'position' AS bigint);

-- name: under_way
SELECT 1 FROM placements WHERE library_id = :library_id AND mode = 'rename' AND status IN ('pending', 'running') LIMIT 1;

-- name: find
SELECT renaming.library_id, undone.id FROM renamings AS renaming LEFT JOIN renamings AS undone ON undone.undoes_id = renaming.id
WHERE renaming.id = :id;

-- name: give_up
UPDATE placements SET status = 'cancelled', finished_at = :now, updated_at = :now
WHERE renaming_id = :id AND status IN ('pending', 'failed');

-- name: renamed
-- What was renamed and still has the name, the last first.
SELECT file.relative_path, placement.source_path, file.size_bytes, file.mtime_ns, placement.named_by
FROM placements AS placement JOIN library_files AS file
    ON file.library_id = placement.library_id AND file.relative_path = placement.target_path AND file.is_missing = 0
WHERE placement.renaming_id = :id AND placement.status = 'completed'
ORDER BY placement.id DESC;

-- name: count_renamed
SELECT count(*) FROM placements WHERE renaming_id = :id AND status = 'completed';

-- name: is_waiting
SELECT 1 FROM placements WHERE renaming_id = :id AND status IN ('pending', 'running', 'failed') LIMIT 1;

-- name: later
-- The last renaming after this one that holds.
SELECT renaming.id FROM renamings AS renaming
WHERE renaming.library_id = :library_id AND renaming.id > :id AND renaming.undoes_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM renamings AS undone WHERE undone.undoes_id = renaming.id)
    AND EXISTS (SELECT 1 FROM placements AS placement
                WHERE placement.renaming_id = renaming.id AND placement.status = 'completed')
ORDER BY renaming.id DESC LIMIT 1;

-- name: page
SELECT renaming.id, renaming.undoes_id, undone.id, renaming.created_at, count(placement.id),
       sum(CASE WHEN placement.status = 'completed' THEN 1 ELSE 0 END),
       sum(CASE WHEN placement.status = 'failed' THEN 1 ELSE 0 END)
FROM renamings AS renaming LEFT JOIN renamings AS undone ON undone.undoes_id = renaming.id
LEFT JOIN placements AS placement ON placement.renaming_id = renaming.id
WHERE renaming.library_id = :library_id
GROUP BY renaming.id, renaming.undoes_id, undone.id, renaming.created_at
ORDER BY renaming.id DESC LIMIT :limit;

-- name: move_place
UPDATE series_places SET folder = :folder, updated_at = :now WHERE library_id = :library_id AND series_id = :series_id;
