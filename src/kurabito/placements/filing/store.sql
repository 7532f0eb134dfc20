-- name: page
SELECT {placement} FROM placements AS placement JOIN library_roots AS library ON library.id = placement.library_id
LEFT JOIN trash_entries AS entry ON entry.id = placement.trash_id AND entry.left_at IS NULL
WHERE placement.id < :before {filter}
ORDER BY placement.id DESC LIMIT :limit;

-- name: of_download
-- What is not done comes first. Names that are taken away afterwards are counted alone.
SELECT {placement} FROM placements AS placement JOIN library_roots AS library ON library.id = placement.library_id
LEFT JOIN trash_entries AS entry ON entry.id = placement.trash_id AND entry.left_at IS NULL
WHERE placement.download_id = :download_id AND placement.is_placed = 0
ORDER BY CASE placement.status WHEN 'completed' THEN 1 ELSE 0 END, placement.id LIMIT :limit;

-- name: count_of_download
SELECT count(*) - coalesce(sum(is_placed), 0), coalesce(sum(CASE WHEN status = 'completed' THEN is_placed ELSE 0 END), 0)
FROM placements WHERE download_id = :download_id;

-- name: get
SELECT {placement} FROM placements AS placement JOIN library_roots AS library ON library.id = placement.library_id
LEFT JOIN trash_entries AS entry ON entry.id = placement.trash_id AND entry.left_at IS NULL
WHERE placement.id = :id;

-- name: retry
UPDATE placements
SET status = 'pending', target_path = coalesce(CAST(:target_path AS text), target_path),
    mode = coalesce(CAST(:mode AS text), mode), fallbacks = coalesce(CAST(:fallbacks AS text), fallbacks), tries = 0,
    lost_leases = 0, retry_after = NULL, error_code = NULL, error_facts = NULL, finished_at = NULL, updated_at = :now
WHERE id = :id AND status IN ('pending', 'failed', 'cancelled');

-- name: inspection_of
SELECT placement.inspection_id, link.series_id, placement.source_path FROM placements AS placement
JOIN downloads AS download ON download.id = placement.download_id JOIN anime_links AS link ON link.id = download.link_id
WHERE placement.id = :id AND placement.inspection_id IS NOT NULL
    AND placement.source_path IS NOT NULL;

-- name: list_again
UPDATE inspections
SET status = 'pending', planned_at = NULL, tries = 0, lost_leases = 0, retry_after = NULL, error_code = NULL,
    error_facts = NULL, finished_at = NULL, updated_at = :now
WHERE status = 'completed' AND download_id IS NOT NULL AND id IN (
    SELECT inspection_id FROM placements
    WHERE status = 'failed' AND error_code IN ('FILE_CHANGED', 'FILE_MISSING') AND id = coalesce(CAST(:id AS bigint), id));

-- name: leave
UPDATE placements SET status = 'cancelled', finished_at = :now, updated_at = :now
WHERE id = :id AND status IN ('pending', 'failed');

-- name: taken
SELECT 1 FROM library_files WHERE library_id = :library_id AND relative_path = :target_path AND is_missing = 0
UNION ALL
SELECT 1 FROM placements
WHERE library_id = :library_id AND target_path = :target_path AND status IN ('pending', 'running', 'failed')
LIMIT 1;

-- name: failed_ids
SELECT id FROM placements WHERE status = 'failed' ORDER BY id LIMIT 1000;

-- name: count_failed
SELECT count(*) FROM (SELECT 1 FROM placements WHERE status = 'failed' LIMIT :most) AS found;

-- name: count_held_up
-- What waits for the first time may be about to be moved, or its disk about to be there.
SELECT count(*) FROM (
    SELECT id FROM placements WHERE status = 'pending' AND error_code IS NOT NULL AND tries > 1
    UNION ALL
    SELECT id FROM inspections
    WHERE status = 'pending' AND error_code IS NOT NULL AND tries > 1 AND download_id IS NOT NULL
    LIMIT :most) AS found;

-- name: keep_free
UPDATE placements SET reserve_bytes = :reserve, updated_at = :now WHERE status = 'pending' AND reserve_bytes <> :reserve;

-- name: hurry_placements
UPDATE placements SET retry_after = NULL, tries = 0, updated_at = :now
WHERE status = 'pending' AND retry_after IS NOT NULL;

-- name: hurry_inspections
UPDATE inspections SET retry_after = NULL, tries = 0, updated_at = :now
WHERE status = 'pending' AND retry_after IS NOT NULL AND download_id IS NOT NULL;

-- name: count_questions
SELECT count(*) FROM (SELECT 1 FROM filing_questions WHERE resolved_at IS NULL LIMIT :most) AS found;

-- name: replace
UPDATE placements
SET replaces_path = target_path, replaces_size_bytes = :size, replaces_mtime_ns = :mtime_ns, trash_id = :trash_id,
    updated_at = :now
WHERE id = :id AND status = 'failed';

-- name: undo
-- What it replaced comes back from the trash, and its own file goes there. It is named by what it was named by before.
INSERT INTO placements (download_id, inspection_id, library_id, mode, source_path, size_bytes, target_path, reserve_bytes,
                        replaces_path, replaces_size_bytes, replaces_mtime_ns, trash_id, named_by, created_at, updated_at)
SELECT placement.download_id, placement.inspection_id, placement.library_id, 'move', entry.trash_path, entry.size_bytes,
       placement.replaces_path, placement.reserve_bytes, file.relative_path, file.size_bytes, file.mtime_ns, :trash_id,
       (SELECT earlier.named_by FROM placements AS earlier
        WHERE earlier.library_id = placement.library_id AND earlier.target_path = placement.replaces_path
            AND earlier.status = 'completed' AND earlier.id < placement.id
        ORDER BY earlier.id DESC LIMIT 1), :now, :now
FROM placements AS placement JOIN trash_entries AS entry ON entry.id = placement.trash_id AND entry.left_at IS NULL
JOIN library_files AS file ON file.library_id = placement.library_id AND file.relative_path = placement.target_path
    AND file.is_missing = 0
WHERE placement.id = :id AND placement.status = 'completed' AND NOT EXISTS (
    SELECT 1 FROM placements AS other WHERE other.library_id = placement.library_id
        AND other.source_path = entry.trash_path AND other.status IN ('pending', 'running'))
RETURNING id;

-- name: undo_episodes
INSERT INTO placement_episodes (placement_id, episode_id)
SELECT :made, episode_id FROM placement_episodes WHERE placement_id = :id;
