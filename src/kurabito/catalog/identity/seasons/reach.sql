-- name: counts
-- How many episodes the record of a series says, or else the offline index.
SELECT COALESCE(record.episode_count,
                (SELECT max(entry.episode_count) FROM offline_entries AS entry WHERE entry.bgm_id = record.bgm_id))
FROM series JOIN metadata AS record ON record.id = series.metadata_id WHERE series.id = :id;

-- name: numbers
SELECT DISTINCT episode.number FROM anime_links AS link JOIN episodes AS episode ON episode.id = link.episode_id
WHERE link.series_id = :id AND link.question_id IS NULL AND episode.kind = 'tv';
