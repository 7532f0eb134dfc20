-- name: states
SELECT episode.series_id, episode.kind, episode.number, episode.state, episode.id
FROM {given} CROSS JOIN episodes AS episode
WHERE episode.series_id = CAST(given.value ->> 'series_id' AS bigint) AND episode.kind = given.value ->> 'kind'
    AND episode.number = CAST(given.value ->> 'number' AS double precision);

-- name: groups
SELECT groups.folded, groups.id FROM {given} CROSS JOIN groups WHERE groups.folded = given.value ->> 'folded';
