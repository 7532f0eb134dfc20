-- name: around
SELECT {airing} FROM episodes AS episode JOIN series ON series.id = episode.series_id
WHERE series.state = 'followed' AND series.merged_into IS NULL AND episode.kind IN ('tv', 'movie')
    AND episode.aired_at >= :now - CAST(:past AS bigint) AND episode.aired_at <= :now + CAST(:future AS bigint)
ORDER BY episode.aired_at, series.id, episode.number LIMIT :limit;
