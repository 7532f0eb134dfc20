-- name: under_way
-- A link of these that was sent to a downloader.
SELECT link.title FROM {given} CROSS JOIN anime_links AS link JOIN downloads ON downloads.link_id = link.id
WHERE link.id = CAST(given.value ->> 0 AS bigint) LIMIT 1;

-- name: forget_links
DELETE FROM anime_links WHERE id IN (SELECT CAST(given.value ->> 0 AS bigint) FROM {given});

-- name: forget_names
DELETE FROM series_aliases WHERE (folded, kind, season, year, country) IN (
    SELECT given.value ->> 'folded', given.value ->> 'kind', CAST(given.value ->> 'season' AS integer),
           CAST(given.value ->> 'year' AS integer), given.value ->> 'country'
    FROM {given});

-- name: give_names
INSERT INTO series_aliases (folded, kind, season, year, country, name, romaji, source, series_id)
SELECT given.value ->> 'folded', given.value ->> 'kind', CAST(given.value ->> 'season' AS integer),
       CAST(given.value ->> 'year' AS integer), given.value ->> 'country', given.value ->> 'name',
       given.value ->> 'romaji', given.value ->> 'source', CAST(given.value ->> 'after' AS bigint)
FROM {given} WHERE true
ON CONFLICT (folded, kind, season, year, country) DO UPDATE SET series_id = excluded.series_id, source = excluded.source;
