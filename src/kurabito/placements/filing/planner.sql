-- name: unplanned
SELECT id FROM inspections WHERE status = 'completed' AND planned_at IS NULL AND download_id IS NOT NULL ORDER BY id LIMIT 20;

-- name: inspection
SELECT download_id, folder FROM inspections WHERE id = :id AND status = 'completed' AND planned_at IS NULL;

-- name: inspected
SELECT download_id, folder FROM inspections WHERE id = :id AND status = 'completed' AND file_count <= :most;

-- name: files
SELECT relative_path, size_bytes, mtime_ns FROM inspected_files WHERE inspection_id = :id ORDER BY position;

-- name: note_planned
UPDATE inspections SET planned_at = :now, updated_at = :now WHERE id = :id AND status = 'completed' AND planned_at IS NULL;

-- name: ask
INSERT INTO filing_questions (inspection_id, path, reason, candidates, created_at)
VALUES (:inspection_id, :path, :reason, :candidates, :now);

-- name: open_questions
SELECT id, path FROM filing_questions WHERE inspection_id = :id AND resolved_at IS NULL;

-- name: ask_again
UPDATE filing_questions SET reason = :reason, candidates = :candidates WHERE id = :question_id;

-- name: close_question
UPDATE filing_questions SET resolved_at = :now WHERE id = :question_id;

-- name: placed
SELECT source_path FROM placements WHERE inspection_id = :id AND source_path IS NOT NULL;

-- name: changed
-- A file that was listed again because it was not what was listed first, or not there.
UPDATE placements
SET size_bytes = :size, source_mtime_ns = :mtime_ns, status = 'pending', tries = 0, lost_leases = 0, retry_after = NULL,
    error_code = NULL, error_facts = NULL, finished_at = NULL, updated_at = :now
WHERE inspection_id = :id AND source_path = :path AND is_placed = 0 AND (size_bytes <> :size OR source_mtime_ns <> :mtime_ns)
    AND (status = 'pending' OR (status = 'failed' AND error_code IN ('FILE_CHANGED', 'FILE_MISSING')));

-- name: ours
-- A file that Kurabito put there, and that is still the one it was.
SELECT file.size_bytes, file.mtime_ns FROM library_files AS file
WHERE file.library_id = :library_id AND file.relative_path = :path AND file.is_missing = 0 AND EXISTS (
    SELECT 1 FROM placements AS placement
    WHERE placement.library_id = file.library_id AND placement.target_path = file.relative_path
        AND placement.status = 'completed' AND placement.method <> 'found' AND placement.placed_inode = file.inode
        AND placement.placed_device = file.device);

-- name: place
INSERT INTO placements (download_id, inspection_id, library_id, mode, fallbacks, source_root, source_path, size_bytes,
                        source_mtime_ns, target_path, reserve_bytes, named_by, replaces_path, replaces_size_bytes,
                        replaces_mtime_ns, trash_id, created_at, updated_at)
VALUES (:download_id, :inspection_id, :library_id, :mode, :fallbacks, :source_root, :source_path, :size, :mtime_ns, :target,
        :reserve, :named_by, :replaces, :replaces_size, :replaces_mtime_ns, :trash_id, :now, :now)
RETURNING id;

-- name: season
SELECT season FROM series WHERE id = :id;

-- name: add_episode
INSERT INTO episodes (series_id, kind, number, created_at, updated_at)
VALUES (:series_id, :kind, CAST(:number AS double precision), :now, :now)
ON CONFLICT (series_id, kind, number) DO NOTHING;

-- name: has_episode
INSERT INTO placement_episodes (placement_id, episode_id)
SELECT :placement_id, id FROM episodes
WHERE series_id = :series_id AND kind = :kind AND number = CAST(:number AS double precision)
ON CONFLICT DO NOTHING;
