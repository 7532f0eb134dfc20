-- name: learn
INSERT INTO chosen_names (folded, season, is_film, metadata_id, chosen_at)
SELECT given.value ->> 'folded', CAST(given.value ->> 'season' AS bigint), CAST(given.value ->> 'is_film' AS bigint),
       CAST(:metadata_id AS bigint), :now
FROM {given} WHERE true
ON CONFLICT (folded, season, is_film) DO UPDATE
SET metadata_id = excluded.metadata_id, chosen_at = excluded.chosen_at;

-- name: forget
DELETE FROM chosen_names
WHERE EXISTS (
    SELECT 1 FROM {given}
    WHERE chosen_names.folded = given.value ->> 'folded'
      AND chosen_names.season = CAST(given.value ->> 'season' AS bigint)
      AND chosen_names.is_film = CAST(given.value ->> 'is_film' AS bigint));

-- name: chosen
SELECT chosen_names.folded, chosen_names.season, chosen_names.is_film, chosen_names.metadata_id
FROM {given} CROSS JOIN chosen_names WHERE chosen_names.folded = given.value ->> 'folded';
