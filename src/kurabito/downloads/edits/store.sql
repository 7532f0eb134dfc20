-- name: add
INSERT INTO series_edits (edit, before, series_count, created_at) VALUES (:edit, :before, :series_count, :now)
RETURNING id;

-- name: get
SELECT {edit} FROM series_edits WHERE id = :id;

-- name: prune
DELETE FROM series_edits WHERE id <= :id;

-- name: note_undone
UPDATE series_edits SET undone_at = :now WHERE id = :id AND undone_at IS NULL RETURNING id;

-- name: choices
SELECT {choices} FROM series WHERE id {among ids} AND merged_into IS NULL ORDER BY id;

-- name: own
SELECT {own} FROM release_profiles WHERE series_id {among ids};

-- name: restore
UPDATE series
SET state = given.value ->> 'state', wanted = given.value ->> 'wanted',
    wanted_since = CAST(given.value ->> 'wanted_since' AS bigint),
    library_id = CAST(given.value ->> 'library_id' AS bigint),
    profile_id = CAST(given.value ->> 'profile_id' AS bigint),
    updated_at = :now
FROM {given} WHERE series.id = CAST(given.value ->> 'id' AS bigint);
