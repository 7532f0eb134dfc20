-- name: due
SELECT described.series_id, described.library_id, library.writes_nfo, library.writes_posters
FROM library_roots AS library JOIN described_series AS described ON described.library_id = library.id
JOIN series ON series.id = described.series_id
LEFT JOIN metadata ON metadata.id = series.metadata_id
LEFT JOIN metadata_extras AS extras ON extras.metadata_id = series.metadata_id
WHERE (library.writes_nfo = 1 OR library.writes_posters = 1) AND library.removing_since IS NULL
    AND (described.described_at IS NULL OR described.described_at < library.updated_at
         OR described.described_at < series.updated_at OR described.described_at < metadata.updated_at
         OR described.described_at < extras.refreshed_at)
ORDER BY described.series_id LIMIT :limit;

-- name: placed
SELECT placement.library_id, placement.named_by, described.subject
FROM placements AS placement LEFT JOIN description_files AS described ON described.placement_id = placement.id
WHERE placement.id {among ids};

-- name: note_due
INSERT INTO described_series (series_id, library_id)
SELECT series.id, CAST(:library_id AS bigint) FROM series WHERE series.id = :series_id
ON CONFLICT (series_id, library_id) DO UPDATE SET described_at = NULL;

-- name: note_described
UPDATE described_series SET described_at = :now WHERE library_id = :library_id AND series_id {among ids};

-- name: known
SELECT path, digest FROM description_files WHERE library_id = :library_id AND subject = :subject;

-- name: is_taken
-- By a file that is known to be there, or by one that is on its way.
SELECT 1 FROM library_files WHERE library_id = :library_id AND relative_path = :path AND is_missing = 0
UNION ALL
SELECT 1 FROM placements WHERE library_id = :library_id AND target_path = :path AND status IN ('pending', 'running', 'failed')
UNION ALL
SELECT 1 FROM description_files WHERE library_id = :library_id AND path = :path;

-- name: unchanged
-- The file that was written, as long as it is as it was written.
SELECT file.size_bytes, file.mtime_ns
FROM description_files AS described JOIN placements AS placement ON placement.id = described.placement_id
JOIN library_files AS file ON file.library_id = described.library_id AND file.relative_path = described.path
WHERE described.library_id = :library_id AND described.subject = :subject AND placement.status = 'completed'
    AND placement.method <> 'found' AND file.is_missing = 0 AND file.inode = placement.placed_inode
    AND file.device = placement.placed_device AND file.mtime_ns = placement.placed_mtime_ns
    AND file.size_bytes = placement.size_bytes;

-- name: place
INSERT INTO placements (library_id, mode, size_bytes, target_path, content, reserve_bytes, replaces_path, replaces_size_bytes,
                        replaces_mtime_ns, trash_id, created_at, updated_at)
VALUES (:library_id, 'write', :size, :path, :content, :reserve, :replaces, :replaces_size, :replaces_mtime_ns, :trash_id,
        :now, :now)
RETURNING id;

-- name: rename
INSERT INTO placements (library_id, mode, source_path, size_bytes, source_mtime_ns, target_path, created_at, updated_at)
VALUES (:library_id, 'rename', :source, :size, :mtime_ns, :path, :now, :now)
RETURNING id;

-- name: keep
INSERT INTO description_files (library_id, subject, path, digest, placement_id)
VALUES (:library_id, :subject, :path, :digest, :placement_id)
ON CONFLICT (library_id, subject) DO UPDATE
SET path = excluded.path, digest = excluded.digest, placement_id = excluded.placement_id;

-- name: foreign
SELECT placement.id FROM placements AS placement JOIN description_files AS described ON described.placement_id = placement.id
WHERE placement.status = 'failed' AND placement.error_code IN ('TARGET_EXISTS', 'FILE_CHANGED', 'FILE_MISSING');

-- name: forget
DELETE FROM description_files WHERE placement_id {among ids};

-- name: leave
UPDATE placements SET status = 'cancelled', content = NULL, finished_at = :now, updated_at = :now WHERE id {among ids};
