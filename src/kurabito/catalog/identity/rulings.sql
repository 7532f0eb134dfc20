-- name: named
SELECT {ruling}
FROM {given} CROSS JOIN identity_rulings AS ruling WHERE ruling.folded = given.value ->> 0
ORDER BY ruling.id;

-- name: add
INSERT INTO identity_rulings (folded, kind, season, year, country, group_folded, series_id, first_number, correction_id)
SELECT given.value ->> 'folded', given.value ->> 'kind', CAST(given.value ->> 'season' AS integer),
       CAST(given.value ->> 'year' AS integer), given.value ->> 'country', given.value ->> 'group_folded',
       CAST(given.value ->> 'series_id' AS bigint),
       CAST(given.value ->> 'first_number' AS integer), :correction_id
FROM {given};

-- name: forget
DELETE FROM identity_rulings WHERE correction_id = :correction_id RETURNING folded;
