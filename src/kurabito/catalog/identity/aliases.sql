-- name: add_series
INSERT INTO series (title, season, kind, year, country, state, created_at, updated_at)
VALUES (:title, :season, :kind, :year, :country, :state, :now, :now)
RETURNING id;

-- name: add_aliases
INSERT INTO series_aliases (folded, kind, season, year, country, name, romaji, source, series_id)
SELECT given.value ->> 'folded', given.value ->> 'kind', CAST(given.value ->> 'season' AS integer),
       CAST(given.value ->> 'year' AS integer), given.value ->> 'country', given.value ->> 'name',
       given.value ->> 'romaji', :source, CAST(given.value ->> 'series_id' AS bigint)
FROM {given} WHERE true
ON CONFLICT (folded, kind, season, year, country) DO NOTHING;
