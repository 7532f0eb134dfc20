-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index.

-- name: named
SELECT alias.folded, alias.kind, alias.season, alias.year, alias.country, alias.series_id
FROM {given} CROSS JOIN series_aliases AS alias WHERE alias.folded = given.value ->> 0;

-- name: like_romaji
SELECT DISTINCT alias.romaji, alias.folded, alias.kind, alias.season, alias.year, alias.country, alias.series_id
FROM {given} CROSS JOIN series_aliases AS alias WHERE alias.romaji = given.value ->> 0;

-- name: japanese_titles
-- The Japanese titles of followed series.
SELECT DISTINCT record.title_japanese FROM series JOIN metadata AS record ON record.id = series.metadata_id
WHERE series.state = 'followed' AND series.merged_into IS NULL AND record.title_japanese IS NOT NULL;

-- name: series
SELECT {series} FROM {given} CROSS JOIN series LEFT JOIN metadata AS record ON record.id = series.metadata_id
WHERE series.id = CAST(given.value ->> 0 AS bigint);

-- name: names
SELECT alias.series_id, alias.name, alias.season, alias.year, alias.country
FROM {given} CROSS JOIN series_aliases AS alias WHERE alias.series_id = CAST(given.value ->> 0 AS bigint)
ORDER BY alias.series_id, alias.season, alias.folded;

-- name: series_of_entries
-- The series whose records are these entries.
SELECT entry.id, series.id
FROM {given} CROSS JOIN offline_entries AS entry CROSS JOIN metadata AS record CROSS JOIN series
WHERE entry.id = CAST(given.value ->> 0 AS bigint) AND record.bgm_id = entry.bgm_id AND series.metadata_id = record.id
    AND series.merged_into IS NULL;

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

-- name: any_number
-- Whether a title said a number of something that is in a series, or that it is whole; or a correction stands, which names its
-- names as they are and could not be undone else.
SELECT 1 FROM anime_links WHERE series_id = :id AND (episode_id IS NOT NULL OR is_batch = 1)
UNION ALL
SELECT 1 FROM corrections WHERE undone_at IS NULL AND (series_id = :id OR other_id = :id)
LIMIT 1;
