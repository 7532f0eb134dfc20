-- name: of_record
SELECT id FROM series WHERE metadata_id = :metadata_id ORDER BY id LIMIT 1;

-- name: by_name
-- Not one that has another record, or began in another year.
SELECT series.id
FROM {given} CROSS JOIN series_aliases AS alias
JOIN series ON series.id = alias.series_id
WHERE alias.folded = given.value ->> 'folded' AND alias.kind = :kind
  AND alias.season = CAST(given.value ->> 'season' AS integer) AND series.metadata_id IS NULL
  AND (series.year IS NULL OR CAST(:year AS integer) IS NULL OR abs(series.year - CAST(:year AS integer)) <= 1)
ORDER BY series.id LIMIT 1;

-- name: set_record
UPDATE series SET metadata_id = :metadata_id, updated_at = :now WHERE id = :id;
