-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index.

-- name: named
SELECT alias.folded, alias.kind, alias.season, alias.year, alias.country, alias.series_id
FROM {given} CROSS JOIN series_aliases AS alias WHERE alias.folded = given.value ->> 0;

-- name: like_romaji
SELECT DISTINCT alias.romaji, alias.folded, alias.kind, alias.season, alias.year, alias.country, alias.series_id
FROM {given} CROSS JOIN series_aliases AS alias WHERE alias.romaji = given.value ->> 0;

-- name: series
SELECT {series} FROM {given} CROSS JOIN series WHERE series.id = CAST(given.value ->> 0 AS bigint);

-- name: names
SELECT alias.series_id, alias.name, alias.season, alias.year, alias.country
FROM {given} CROSS JOIN series_aliases AS alias WHERE alias.series_id = CAST(given.value ->> 0 AS bigint)
ORDER BY alias.series_id, alias.season, alias.folded;

-- name: entries
-- Which entries of the offline index have these names.
SELECT mine.folded, mine.entry_id, entry.kind, coalesce(CAST(substr(entry.air_date, 1, 4) AS integer), entry.year)
FROM {given} CROSS JOIN offline_titles AS mine CROSS JOIN offline_entries AS entry
WHERE mine.folded = given.value ->> 0 AND entry.id = mine.entry_id;

-- name: sounding
-- Which entries have a name of these sounds, however they spell it.
SELECT mine.sound, mine.entry_id, entry.kind
FROM {given} CROSS JOIN offline_romaji AS mine CROSS JOIN offline_entries AS entry
WHERE mine.sound = given.value ->> 0 AND entry.id = mine.entry_id;

-- name: entry_names
SELECT other.entry_id, other.folded
FROM {given} CROSS JOIN offline_titles AS other WHERE other.entry_id = CAST(given.value ->> 0 AS bigint);

-- name: entries_of_pages
SELECT entry.mikan_id, entry.id FROM {given} CROSS JOIN offline_entries AS entry
WHERE entry.mikan_id = CAST(given.value ->> 0 AS bigint);

-- name: series_of_feeds
-- The series of what came from these feeds before, but of what is still asked about.
SELECT DISTINCT item.subscription_id, series.kind, link.series_id
FROM {given} CROSS JOIN raw_anime_items AS item CROSS JOIN anime_links AS link CROSS JOIN series
WHERE item.subscription_id = CAST(given.value ->> 0 AS bigint) AND link.raw_item_id = item.id
    AND link.question_id IS NULL AND series.id = link.series_id;

-- name: habit
-- Whether a group released something of a series in a feed before.
SELECT 1 FROM anime_links AS link
WHERE link.series_id = :series_id AND link.question_id IS NULL
    AND EXISTS (SELECT 1 FROM groups WHERE groups.id = link.group_id AND groups.folded = :folded)
    AND EXISTS (SELECT 1 FROM raw_anime_items AS item
                WHERE item.id = link.raw_item_id AND item.subscription_id = :subscription_id)
LIMIT 1;
