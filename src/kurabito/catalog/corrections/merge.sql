-- name: series
SELECT {series} FROM series WHERE id = :id;

-- name: episodes
-- The episodes of one series, each with the same one of the other.
SELECT mine.id, other.id FROM episodes AS mine
LEFT JOIN episodes AS other ON other.series_id = :into AND other.kind = mine.kind AND other.number = mine.number
WHERE mine.series_id = :id ORDER BY mine.id;

-- name: links
SELECT id, episode_id, held_reason FROM anime_links WHERE series_id = :id ORDER BY id;

-- name: twice
-- A release that is there for the same episode in both.
SELECT mine.title FROM anime_links AS mine
JOIN episodes AS episode ON episode.id = mine.episode_id
JOIN episodes AS same ON same.series_id = :into AND same.kind = episode.kind AND same.number = episode.number
JOIN anime_links AS other ON other.episode_id = same.id AND other.release_key = mine.release_key
WHERE mine.series_id = :id LIMIT 1;

-- name: conflicts
-- The open conflicts of a series' episodes, and whether the same episode of the other has one too.
SELECT conflict.id, conflict.episode_id, conflict.status, same.id,
       EXISTS (SELECT 1 FROM conflicts AS other WHERE other.episode_id = same.id AND other.status <> 'resolved') AS is_open
FROM conflicts AS conflict JOIN episodes AS episode ON episode.id = conflict.episode_id
JOIN episodes AS same ON same.series_id = :into AND same.kind = episode.kind AND same.number = episode.number
WHERE episode.series_id = :id AND conflict.status <> 'resolved';

-- name: names
SELECT {name} FROM series_aliases WHERE series_id = :id ORDER BY season, folded, year, country;

-- name: subscriptions
SELECT id FROM subscriptions WHERE series_id = :id;

-- name: folder_matches
SELECT id FROM folder_matches WHERE series_id = :id;

-- name: identity_rulings
SELECT id FROM identity_rulings WHERE series_id = :id;

-- name: identity_questions
SELECT id FROM identity_questions WHERE series_id = :id;

-- name: filter_rules
SELECT id FROM filter_rules WHERE target_type = 'series' AND target_id = :id;

-- name: merged
-- What was merged into a series before.
SELECT id FROM series WHERE merged_into = :id;

-- name: taken
-- Those of some names that a series has.
SELECT alias.folded FROM {given} CROSS JOIN series_aliases AS alias
WHERE alias.folded = given.value ->> 'folded' AND alias.kind = given.value ->> 'kind'
    AND alias.season = CAST(given.value ->> 'season' AS integer)
    AND alias.year = CAST(given.value ->> 'year' AS integer) AND alias.country = given.value ->> 'country';
