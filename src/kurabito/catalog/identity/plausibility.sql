-- name: known
-- How many episodes the records of some series say, or else the offline index, and whether single episodes of them are in the library or under way.
SELECT series.id,
       COALESCE(record.episode_count,
                (SELECT max(entry.episode_count) FROM offline_entries AS entry WHERE entry.bgm_id = record.bgm_id)),
       EXISTS (SELECT 1 FROM episodes AS episode
               WHERE episode.series_id = series.id AND episode.kind = 'tv' AND episode.state IN ('have', 'downloading'))
FROM {given} CROSS JOIN series LEFT JOIN metadata AS record ON record.id = series.metadata_id
WHERE series.id = CAST(given.value ->> 0 AS bigint);
