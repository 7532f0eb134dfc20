-- name: members
SELECT other.series_id, other.folder
FROM series_places AS mine JOIN series_places AS other ON other.library_id = mine.library_id AND other.folder = mine.folder
WHERE mine.series_id = :series_id AND mine.library_id = :library_id AND mine.folder <> ''
ORDER BY other.series_id;

-- name: videos
-- What Kurabito put there and is still that file; the last placement of a name tells what has it.
SELECT file.relative_path, file.size_bytes, file.mtime_ns, placement.named_by
FROM episodes AS episode JOIN episode_files AS had ON had.episode_id = episode.id
JOIN library_files AS file ON file.id = had.file_id
JOIN placements AS placement ON placement.library_id = file.library_id AND placement.target_path = file.relative_path
    AND placement.status = 'completed' AND placement.method <> 'found' AND placement.placed_inode = file.inode
    AND placement.placed_device = file.device
WHERE episode.series_id = :series_id AND file.library_id = :library_id AND file.is_missing = 0
    AND placement.named_by IS NOT NULL
ORDER BY file.relative_path, placement.id;
