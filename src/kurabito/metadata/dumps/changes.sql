-- name: entries
SELECT {row} FROM offline_entries ORDER BY id;

-- name: titles
SELECT folded, entry_id, name_source, name_language FROM offline_titles;

-- name: sounds
SELECT sound, entry_id FROM offline_romaji;

-- name: offsets
SELECT entry_id, source, season, first FROM offline_offsets;

-- name: forget_entries
DELETE FROM offline_entries WHERE id IN (SELECT CAST(value ->> 0 AS bigint) FROM {given});

-- name: forget_titles
DELETE FROM offline_titles
WHERE (folded, entry_id) IN (SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM {given});

-- name: forget_sounds
DELETE FROM offline_romaji
WHERE (sound, entry_id) IN (SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM {given});

-- name: forget_offsets
DELETE FROM offline_offsets
WHERE (entry_id, source) IN (SELECT CAST(value ->> 0 AS bigint), value ->> 1 FROM {given});

-- name: imported_at
SELECT max(imported_at) FROM index_imports;
