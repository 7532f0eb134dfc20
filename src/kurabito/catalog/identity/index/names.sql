-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index.

-- name: entries
-- Which entries of the offline index have these names.
SELECT mine.folded, {entry}
FROM {given} CROSS JOIN offline_titles AS mine CROSS JOIN offline_entries AS entry
WHERE mine.folded = given.value ->> 0 AND entry.id = mine.entry_id;

-- name: sounding
-- Which entries have a name of these sounds, however they spell it.
SELECT mine.sound, {entry}
FROM {given} CROSS JOIN offline_romaji AS mine CROSS JOIN offline_entries AS entry
WHERE mine.sound = given.value ->> 0 AND entry.id = mine.entry_id;

-- name: parts
-- The entries that some shows of TMDB have for their seasons; those of season 0 are extras.
SELECT {entry} FROM {given} CROSS JOIN offline_entries AS entry
WHERE entry.tmdb_id = CAST(given.value ->> 0 AS bigint) AND entry.tmdb_kind = 'tv' AND COALESCE(entry.tmdb_season, 1) > 0;

-- name: entry_names
SELECT other.entry_id, other.folded
FROM {given} CROSS JOIN offline_titles AS other WHERE other.entry_id = CAST(given.value ->> 0 AS bigint);

-- name: entries_of_pages
SELECT entry.mikan_id, entry.id FROM {given} CROSS JOIN offline_entries AS entry
WHERE entry.mikan_id = CAST(given.value ->> 0 AS bigint);
