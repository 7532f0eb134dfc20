-- name: alias_of_another
SELECT alias.name, alias.season, series.id, series.title
FROM {given} JOIN series_aliases AS alias
    ON alias.folded = given.value ->> 'folded' AND alias.kind = :kind
    AND alias.season = CAST(given.value ->> 'season' AS integer)
    AND alias.year = CAST(given.value ->> 'year' AS integer) AND alias.country = given.value ->> 'country'
JOIN series ON series.id = alias.series_id
WHERE alias.series_id <> :id
LIMIT 1;
