-- name: ranges
-- Links that nothing else decides: no question holds them, and no person said where they belong. Those of a series are together.
-- The ids of each range are one text: a row for each would keep the other threads waiting that many times.
SELECT {string_agg}(CAST(id AS text), ',') FROM (
    SELECT link.id, (row_number() OVER (ORDER BY link.series_id, link.id) - 1) / CAST(:size AS bigint) AS part
    FROM anime_links AS link
    WHERE link.question_id IS NULL AND link.is_fixed = 0
        AND (CAST(:series_id AS bigint) IS NULL OR link.series_id = :series_id)) AS numbered
GROUP BY part ORDER BY part;

-- name: titles
-- Some of them, with no more than tells whether a change touches them.
SELECT link.id, link.title FROM {given} CROSS JOIN anime_links AS link
WHERE link.id = CAST(given.value ->> 0 AS bigint) AND link.question_id IS NULL AND link.is_fixed = 0;

-- name: again
-- Some of them, as they are now.
SELECT {link} FROM {given} CROSS JOIN anime_links AS link {joins}
WHERE link.id = CAST(given.value ->> 0 AS bigint) AND link.question_id IS NULL AND link.is_fixed = 0
ORDER BY link.id;

-- name: beside
-- Every link of some releases.
SELECT link.id, link.release_key, link.episode_id
FROM {given} CROSS JOIN anime_links AS link WHERE link.release_key = given.value ->> 0;

-- name: states
-- What is wanted of some series; of those that are there.
SELECT series.id, series.state FROM {given} CROSS JOIN series
WHERE series.id = CAST(given.value ->> 0 AS bigint) AND series.merged_into IS NULL;

-- name: move
-- Links that were just read in this transaction. Why one is held may have been changed beside it.
UPDATE anime_links
SET series_id = CAST(given.value ->> 'series_id' AS bigint), episode_id = CAST(given.value ->> 'episode_id' AS bigint),
    held_reason = CASE WHEN held_reason = given.value ->> 'held_before'
                           OR (held_reason IS NULL AND given.value ->> 'held_before' IS NULL)
                       THEN given.value ->> 'held_reason' ELSE held_reason END
FROM {given} WHERE anime_links.id = CAST(given.value ->> 'id' AS bigint);

-- name: waiting
-- What was read again and waits to be confirmed.
SELECT id FROM anime_links WHERE held_reason = 'read_again' ORDER BY id;

-- name: asked
-- Links that an open question holds; one that a person left open stays so.
SELECT {link}, link.question_id FROM anime_links AS link {joins}
JOIN identity_questions AS question ON question.id = link.question_id
WHERE question.status = 'open' AND link.is_fixed = 0
ORDER BY link.id;
