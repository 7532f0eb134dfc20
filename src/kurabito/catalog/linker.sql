-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index.

-- name: known_releases
SELECT DISTINCT link.release_key
FROM {given} CROSS JOIN anime_links AS link WHERE link.release_key = given.value ->> 'release_key';

-- name: links_of_release
SELECT link.id, link.held_reason FROM anime_links AS link WHERE link.release_key = :release_key ORDER BY link.id;

-- name: add_groups
INSERT INTO groups (name, folded, created_at)
SELECT given.value ->> 'name', given.value ->> 'folded', :now
FROM {given} WHERE true
ON CONFLICT (folded) DO NOTHING;

-- name: groups
SELECT groups.folded, groups.id FROM {given} CROSS JOIN groups WHERE groups.folded = given.value ->> 'folded';

-- name: add_episodes
INSERT INTO episodes (series_id, kind, number, created_at, updated_at)
SELECT CAST(given.value ->> 'series_id' AS bigint), given.value ->> 'kind',
       CAST(given.value ->> 'number' AS double precision), :now, :now
FROM {given} WHERE true
ON CONFLICT (series_id, kind, number) DO NOTHING;

-- name: episodes
SELECT episode.series_id, episode.kind, episode.number, episode.id
FROM {given} CROSS JOIN episodes AS episode
WHERE episode.series_id = CAST(given.value ->> 'series_id' AS bigint) AND episode.kind = given.value ->> 'kind'
    AND episode.number = CAST(given.value ->> 'number' AS double precision);

-- name: add_links
INSERT INTO anime_links (release_key, raw_item_id, series_id, episode_id, group_id, title, url, hash, download_type,
                         resolution, source, languages, version, size_bytes, is_batch, held_reason, held_why,
                         clues, question_id, indexer_id, created_at)
SELECT given.value ->> 'release_key', CAST(given.value ->> 'raw_item_id' AS bigint),
       CAST(given.value ->> 'series_id' AS bigint), CAST(given.value ->> 'episode_id' AS bigint),
       CAST(given.value ->> 'group_id' AS bigint), given.value ->> 'title', given.value ->> 'url', given.value ->> 'hash',
       CAST(given.value ->> 'download_type' AS {enum download_type}), CAST(given.value ->> 'resolution' AS integer),
       given.value ->> 'source', given.value ->> 'languages', CAST(given.value ->> 'version' AS integer),
       CAST(given.value ->> 'size_bytes' AS bigint), CAST(given.value ->> 'is_batch' AS integer),
       given.value ->> 'held_reason', given.value ->> 'held_why', given.value ->> 'clues',
       CAST(given.value ->> 'question_id' AS bigint), CAST(given.value ->> 'indexer_id' AS bigint), :now
FROM {given} WHERE true
RETURNING id, held_reason;
