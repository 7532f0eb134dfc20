-- name: links
SELECT link.id, link.release_key, link.series_id, link.episode_id, link.title, link.held_reason, link.question_id,
       link.is_released, link.is_fixed, episode.kind, episode.number
FROM {given} CROSS JOIN anime_links AS link LEFT JOIN episodes AS episode ON episode.id = link.episode_id
WHERE link.id = CAST(given.value ->> 0 AS bigint) ORDER BY link.id;

-- name: of_release
-- The links of the releases that these are of, in the same series.
SELECT DISTINCT other.id FROM {given} CROSS JOIN anime_links AS link
JOIN anime_links AS other ON other.release_key = link.release_key AND other.series_id = link.series_id
WHERE link.id = CAST(given.value ->> 0 AS bigint);

-- name: of_series
SELECT id, title FROM anime_links WHERE series_id = :id ORDER BY id;

-- name: taken
-- Whether a release is there for an episode already.
SELECT link.title FROM {given} CROSS JOIN anime_links AS link
WHERE link.release_key = given.value ->> 'release_key' AND link.episode_id = CAST(given.value ->> 'episode_id' AS bigint)
    AND link.id <> CAST(given.value ->> 'id' AS bigint)
LIMIT 1;

-- name: add_episodes
INSERT INTO episodes (series_id, kind, number, created_at, updated_at)
SELECT :series_id, given.value ->> 'kind', CAST(given.value ->> 'number' AS double precision), :now, :now
FROM {given} WHERE true
ON CONFLICT (series_id, kind, number) DO NOTHING;

-- name: episodes
SELECT kind, number, id FROM episodes WHERE series_id = :series_id;

-- name: lonely_conflicts
-- Open conflicts about episodes that have no link any more.
SELECT conflict.id, conflict.status FROM {given} CROSS JOIN conflicts AS conflict
WHERE conflict.episode_id = CAST(given.value ->> 0 AS bigint) AND conflict.status <> 'resolved'
    AND NOT EXISTS (SELECT 1 FROM anime_links AS link WHERE link.episode_id = conflict.episode_id);

-- name: settle_holds
-- Links are held for the sake of their series as that is wanted now.
UPDATE anime_links
SET held_reason = CASE series.state WHEN 'asked' THEN 'series_asked' WHEN 'ignored' THEN 'series_ignored' ELSE NULL END
FROM series
WHERE series.id = anime_links.series_id AND anime_links.id IN (SELECT CAST(given.value ->> 0 AS bigint) FROM {given})
    AND (anime_links.held_reason IS NULL OR anime_links.held_reason IN ('series_asked', 'series_ignored'))
    AND anime_links.is_released = 0;
