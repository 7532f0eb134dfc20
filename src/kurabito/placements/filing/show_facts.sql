-- name: links
-- Of a batch, every link that it was fetched for; the one of this download first.
SELECT link.series_id, link.title, episode.number
FROM downloads AS mine JOIN downloads AS download
    ON download.id = mine.id OR (download.hash = mine.hash AND download.module_id = mine.module_id)
JOIN anime_links AS link ON link.id = download.link_id
LEFT JOIN episodes AS episode ON episode.id = link.episode_id
WHERE mine.id = :id
ORDER BY CASE WHEN download.id = mine.id THEN 0 ELSE 1 END, download.id;

-- name: record
SELECT {record} FROM metadata WHERE id = :id;

-- name: entries
SELECT id, tmdb_season, air_date, episode_count FROM metadata WHERE tmdb_id = :tmdb_id AND tmdb_kind = 'tv';

-- name: other_seasons
SELECT series.id FROM metadata AS mine
JOIN metadata AS theirs ON theirs.tmdb_id = mine.tmdb_id AND theirs.tmdb_kind = mine.tmdb_kind
JOIN series ON series.metadata_id = theirs.id
WHERE mine.id = CAST(:metadata_id AS bigint) AND mine.tmdb_kind = 'tv' AND series.id <> :id AND series.season <> :season
    AND series.kind = 'tv' AND series.merged_into IS NULL
ORDER BY series.season, series.id;

-- name: episodes
SELECT kind, number FROM episodes WHERE series_id = :series_id;

-- name: had
-- The files of a library that episodes are in; what Kurabito put there, and is still that file, has what it was named by.
SELECT episode.number, file.library_id, file.relative_path, placement.id IS NOT NULL, placement.named_by, placement.source_path
FROM episodes AS episode JOIN episode_files AS had ON had.episode_id = episode.id
JOIN library_files AS file ON file.id = had.file_id
LEFT JOIN placements AS placement ON placement.library_id = file.library_id AND placement.target_path = file.relative_path
    AND placement.status = 'completed' AND placement.method <> 'found' AND placement.placed_inode = file.inode
    AND placement.placed_device = file.device
WHERE episode.series_id = :series_id AND episode.kind = 'tv' AND file.is_missing = 0
ORDER BY episode.number, placement.id;
