-- name: look_again
-- What could not be found without this index may be in it.
UPDATE metadata SET tmdb_lookup_at = NULL
WHERE tmdb_id IS NULL AND title_japanese IS NOT NULL AND title_japanese <> '' AND tmdb_lookup_at IS NOT NULL;

-- name: any_entry
SELECT 1 FROM offline_entries LIMIT 1;

-- name: years
SELECT (SELECT min(air_date) FROM offline_entries WHERE source = 'bangumi-data'),
       (SELECT max(air_date) FROM offline_entries WHERE source = 'bangumi-data');

-- name: of_bgm
SELECT {entry} FROM offline_entries
WHERE bgm_id IN (SELECT CAST(value ->> 0 AS bigint) FROM {given}) ORDER BY id DESC;

-- name: named
SELECT offline_titles.folded, {entry} FROM offline_titles JOIN offline_entries ON offline_entries.id = offline_titles.entry_id
WHERE offline_titles.folded IN (SELECT value ->> 0 FROM {given}) ORDER BY offline_entries.id;

-- name: begun_between
-- A season is what bangumi-data lists: other dumps also have what was never on a schedule.
SELECT {entry} FROM offline_entries
WHERE air_date >= :first AND air_date < :last AND source = 'bangumi-data' ORDER BY air_date, id;

-- name: namesakes
SELECT mine.folded, mine.entry_id, other.folded
FROM offline_titles AS mine JOIN offline_titles AS other ON other.entry_id = mine.entry_id
WHERE mine.folded IN (SELECT value ->> 0 FROM {given});

-- name: of_shows
SELECT {entry} FROM offline_entries
WHERE tmdb_id IN (SELECT CAST(value ->> 0 AS bigint) FROM {given}) AND tmdb_kind = 'tv' ORDER BY id;

-- name: sounding
SELECT offline_romaji.sound, {entry} FROM offline_romaji JOIN offline_entries ON offline_entries.id = offline_romaji.entry_id
WHERE offline_romaji.sound IN (SELECT value ->> 0 FROM {given}) ORDER BY offline_entries.id;

-- name: containing
-- A folded name has neither % nor _.
SELECT {entry} FROM offline_entries JOIN (
    SELECT entry_id, min(CASE WHEN folded = :folded THEN 0 ELSE length(folded) END) AS distance
    FROM offline_titles WHERE folded LIKE :pattern GROUP BY entry_id ORDER BY distance, entry_id LIMIT :limit) AS found
ON found.entry_id = offline_entries.id
ORDER BY found.distance, air_date, offline_entries.id;
