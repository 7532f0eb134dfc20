-- name: without_record
SELECT id, title, season, kind, year FROM series
WHERE metadata_id IS NULL AND merged_into IS NULL AND id > :after AND state <> 'ignored' ORDER BY id LIMIT :limit;

-- name: of_ids
SELECT series.id, series.title, series.season, series.kind, series.year
FROM {given} CROSS JOIN series WHERE series.id = CAST(given.value ->> 'id' AS bigint);

-- name: aliases
SELECT alias.series_id, alias.name FROM {given} CROSS JOIN series_aliases AS alias
WHERE alias.series_id = CAST(given.value ->> 'id' AS bigint)
ORDER BY alias.series_id, alias.season, alias.name;

-- name: set_records
UPDATE series SET metadata_id = CAST(given.value ->> 'metadata_id' AS bigint), updated_at = :now
FROM {given} WHERE series.id = CAST(given.value ->> 'id' AS bigint) AND series.metadata_id IS NULL;
