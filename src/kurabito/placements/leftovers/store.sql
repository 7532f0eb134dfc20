-- name: filed
-- Of a batch, the download that was inspected stands for all with the same content.
SELECT download.id, download.module_id, download.hash, inspection.id
FROM service_modules AS module JOIN downloads AS download ON download.module_id = module.module_id
JOIN inspections AS inspection ON inspection.download_id = download.id
WHERE download.id > :after AND module.tidies = 1 AND module.is_enabled = 1 AND download.status = 'completed' AND download.owner = 'kurabito'
    AND download.hash IS NOT NULL AND download.tidied_at IS NULL AND download.forgotten_at IS NULL
    AND download.given_back_at IS NULL AND inspection.status = 'completed' AND inspection.planned_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM filing_questions AS question
                    WHERE question.inspection_id = inspection.id AND question.resolved_at IS NULL)
    AND EXISTS (SELECT 1 FROM placements AS placement WHERE placement.inspection_id = inspection.id)
    AND NOT EXISTS (SELECT 1 FROM placements AS placement
                    WHERE placement.inspection_id = inspection.id AND placement.noted_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM downloads AS other
                    WHERE other.hash = download.hash AND other.module_id = download.module_id AND other.id <> download.id
                        AND (other.status IN ('pending', 'downloading', 'downloader_error')
                             OR coalesce(other.owner, 'user') <> 'kurabito'))
ORDER BY download.id LIMIT :limit;

-- name: note_tidied
UPDATE downloads SET tidied_at = :now, updated_at = :now
WHERE status = 'completed' AND hash = :hash AND module_id = :module_id AND tidied_at IS NULL;

-- name: take_names
-- Each file where it lies in its library by now: under its name, or as the file of its episode if it was renamed. One that is not
-- there any more keeps the name that it has.
INSERT INTO placements (download_id, library_id, mode, source_root, source_path, size_bytes, source_mtime_ns, target_path,
                        is_placed, named_by, created_at, updated_at)
SELECT placement.download_id, placement.library_id, 'move', placement.source_root, placement.source_path, placement.size_bytes,
       placement.source_mtime_ns, min(file.relative_path), 1, placement.named_by, :now, :now
FROM (
    SELECT mine.id AS placement_id, known.id AS file_id
    FROM placements AS mine JOIN library_files AS known
        ON known.library_id = mine.library_id AND known.relative_path = mine.target_path
    WHERE mine.inspection_id = :inspection_id
    UNION
    SELECT mine.id, had.file_id
    FROM placements AS mine JOIN placement_episodes AS of_placement ON of_placement.placement_id = mine.id
    JOIN episode_files AS had ON had.episode_id = of_placement.episode_id
    WHERE mine.inspection_id = :inspection_id
) AS candidate
JOIN placements AS placement ON placement.id = candidate.placement_id
JOIN library_files AS file ON file.id = candidate.file_id
    AND file.inode = placement.placed_inode AND file.device = placement.placed_device AND file.is_missing = 0
WHERE placement.download_id = :id AND placement.status = 'completed' AND placement.source_root IS NOT NULL
    AND placement.mode IN ('link', 'reflink', 'copy')
GROUP BY placement.id, placement.download_id, placement.library_id, placement.source_root, placement.source_path,
         placement.size_bytes, placement.source_mtime_ns, placement.named_by
ORDER BY placement.id;

-- name: kept
SELECT id FROM placements WHERE status = 'failed' AND is_placed = 1;

-- name: leave
UPDATE placements SET status = 'cancelled', finished_at = :now, updated_at = :now WHERE id {among ids};
