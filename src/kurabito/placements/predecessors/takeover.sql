-- name: of_record
SELECT id FROM series WHERE metadata_id = :metadata_id AND merged_into IS NULL ORDER BY id LIMIT 1;

-- name: by_name
SELECT alias.series_id FROM {given} CROSS JOIN series_aliases AS alias
WHERE alias.folded = given.value ->> 'folded' AND alias.kind = 'tv'
    AND alias.season = CAST(given.value ->> 'season' AS integer)
ORDER BY alias.series_id LIMIT 1;
