-- name: decisions
-- CROSS JOIN keeps SQLite from reading all links first.
SELECT link.release_key, series.id, series.title, series.season, link.held_reason, max(link.is_filtered),
       max(link.filter_reason), max(episode.kind), min(episode.number), max(episode.number)
FROM {given} CROSS JOIN anime_links AS link
JOIN series ON series.id = link.series_id
LEFT JOIN episodes AS episode ON episode.id = link.episode_id
WHERE link.release_key = given.value ->> 'release_key'
GROUP BY link.release_key, series.id, series.title, series.season, link.held_reason;

-- name: progress
SELECT series_id, {shown_state} AS shown, count(*)
FROM {given} CROSS JOIN episodes
WHERE series_id = CAST(given.value ->> 'id' AS bigint) AND kind IN ('tv', 'movie')
GROUP BY series_id, shown;

-- name: followed
SELECT series.metadata_id, min(series.id)
FROM {given} CROSS JOIN series
WHERE series.metadata_id = CAST(given.value ->> 'id' AS bigint) AND series.state = 'followed'
GROUP BY series.metadata_id;

-- name: groups
SELECT id, name FROM groups ORDER BY folded LIMIT :limit;

-- name: group
SELECT name FROM groups WHERE id = :id;
