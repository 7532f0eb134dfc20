-- name: series_named
SELECT DISTINCT alias.folded, alias.kind, alias.season, series.id, series.title, series.year, series.metadata_id
FROM {given} CROSS JOIN series_aliases AS alias
JOIN series ON series.id = alias.series_id
WHERE alias.folded = given.value ->> 'folded';
