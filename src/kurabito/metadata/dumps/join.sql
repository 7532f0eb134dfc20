-- name: forget_titles
DELETE FROM offline_titles WHERE name_source <> 'bangumi-data';

-- name: forget_entries
DELETE FROM offline_entries WHERE source <> 'bangumi-data';

-- name: forget_sounds
DELETE FROM offline_romaji;

-- name: forget_offsets
DELETE FROM offline_offsets;

-- name: known
SELECT {entry} FROM offline_entries WHERE source = 'bangumi-data' ORDER BY id;

-- name: known_titles
SELECT folded, entry_id FROM offline_titles WHERE name_source = 'bangumi-data';

-- name: of_dumps
SELECT {entry} FROM offline_entries WHERE source <> 'bangumi-data' ORDER BY id;

-- name: add_entries
INSERT INTO offline_entries (id, source, kind, title, language, air_date, air_weekday, year, bgm_id)
SELECT CAST(value ->> 0 AS bigint), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
       CAST(value ->> 6 AS integer), CAST(value ->> 7 AS integer), CAST(value ->> 8 AS bigint)
FROM {given};

-- name: complete
UPDATE offline_entries
SET anidb_id = coalesce(anidb_id, CAST(value ->> 1 AS bigint)), mal_id = coalesce(mal_id, CAST(value ->> 2 AS bigint)),
    anilist_id = coalesce(anilist_id, CAST(value ->> 3 AS bigint)), title_chinese = coalesce(title_chinese, value ->> 4),
    title_english = coalesce(title_english, value ->> 5), episode_count = CAST(value ->> 6 AS bigint),
    franchise_id = CAST(value ->> 7 AS bigint)
FROM {given} WHERE offline_entries.id = CAST(value ->> 0 AS bigint);

-- name: add_titles
INSERT INTO offline_titles (folded, entry_id, name_source, name_language)
SELECT value ->> 0, CAST(value ->> 1 AS bigint), value ->> 2, value ->> 3 FROM {given} WHERE true
ON CONFLICT (folded, entry_id) DO NOTHING;

-- name: add_offsets
INSERT INTO offline_offsets (entry_id, source, season, first)
SELECT CAST(value ->> 0 AS bigint), value ->> 1, CAST(value ->> 2 AS bigint), CAST(value ->> 3 AS bigint) FROM {given};

-- name: add_sounds
INSERT INTO offline_romaji (sound, entry_id) SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM {given};
