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

-- name: names_of_film
UPDATE series_aliases SET kind = 'movie'
WHERE series_id = :id AND kind = 'tv'
    AND NOT EXISTS (SELECT 1 FROM series_aliases AS other
                    WHERE other.folded = series_aliases.folded AND other.kind = 'movie' AND other.season = series_aliases.season
                        AND other.year = series_aliases.year AND other.country = series_aliases.country);

-- name: shadowed_names
DELETE FROM series_aliases WHERE series_id = :id AND kind = 'tv';

-- name: make_film
UPDATE series SET kind = 'movie' WHERE id = :id;
