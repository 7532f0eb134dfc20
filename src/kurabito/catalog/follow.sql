-- name: of_record
SELECT id FROM series WHERE metadata_id = :metadata_id ORDER BY id LIMIT 1;

-- name: named_so
-- Not one that stands for something else.
SELECT series.id
FROM {given} CROSS JOIN series_aliases AS alias
JOIN series ON series.id = alias.series_id
WHERE alias.folded = given.value ->> 'folded' AND alias.kind = :kind
  AND alias.season = CAST(given.value ->> 'season' AS integer) AND series.metadata_id IS NULL
ORDER BY series.id LIMIT 1;

-- name: tell
UPDATE series SET metadata_id = :metadata_id, updated_at = :now WHERE id = :id;
