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

-- name: episodes
SELECT kind, number,
       EXISTS (SELECT 1 FROM episode_files AS had JOIN library_files AS file ON file.id = had.file_id
               WHERE had.episode_id = episodes.id AND file.is_missing = 0)
FROM episodes WHERE series_id = :series_id;
