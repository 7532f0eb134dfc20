-- name: numbers
-- First the entries of bangumi-data: one that a dump knew before keeps its number only where they have none for it.
SELECT {known} FROM offline_entries ORDER BY CASE WHEN source = 'bangumi-data' THEN 0 ELSE 1 END, id;

-- name: base_entries
SELECT id, {entry} FROM offline_entries WHERE source = 'bangumi-data' ORDER BY id;

-- name: base_titles
SELECT folded, entry_id FROM offline_titles WHERE name_source = 'bangumi-data';

-- name: add_entries
INSERT INTO offline_entries ({row})
SELECT CAST(value ->> 0 AS bigint), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
       CAST(value ->> 8 AS integer), CAST(value ->> 9 AS integer), CAST(value ->> 10 AS bigint),
       CAST(value ->> 11 AS bigint), value ->> 12, CAST(value ->> 13 AS integer), CAST(value ->> 14 AS bigint),
       CAST(value ->> 15 AS bigint), CAST(value ->> 16 AS bigint), CAST(value ->> 17 AS bigint),
       CAST(value ->> 18 AS bigint), CAST(value ->> 19 AS bigint), value ->> 20
FROM {given};

-- name: add_titles
INSERT INTO offline_titles (folded, entry_id, name_source, name_language)
SELECT value ->> 0, CAST(value ->> 1 AS bigint), value ->> 2, value ->> 3 FROM {given} WHERE true
ON CONFLICT (folded, entry_id) DO NOTHING;

-- name: add_offsets
INSERT INTO offline_offsets (entry_id, source, season, first)
SELECT CAST(value ->> 0 AS bigint), value ->> 1, CAST(value ->> 2 AS bigint), CAST(value ->> 3 AS bigint) FROM {given};

-- name: add_sounds
INSERT INTO offline_romaji (sound, entry_id) SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM {given};
