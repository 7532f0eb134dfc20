-- name: named
SELECT DISTINCT alias.folded, alias.kind, alias.season, series.id, series.episode_offset, series.state
FROM {given} JOIN series_aliases AS alias ON alias.folded = given.value ->> 'folded'
JOIN series ON series.id = alias.series_id;

-- name: by_id
SELECT DISTINCT series.id, series.episode_offset, series.state
FROM {given} JOIN series ON series.id = CAST(given.value ->> 'id' AS bigint);

-- name: add_series
INSERT INTO series (title, season, kind, year, state, created_at, updated_at)
VALUES (:title, :season, :kind, :year, :state, :now, :now)
RETURNING id;

-- name: add_aliases
INSERT INTO series_aliases (folded, kind, season, name, series_id)
SELECT given.value ->> 'folded', given.value ->> 'kind', CAST(given.value ->> 'season' AS integer), given.value ->> 'name',
       CAST(given.value ->> 'series_id' AS bigint)
FROM {given} WHERE true
ON CONFLICT (folded, kind, season) DO NOTHING;
