-- name: libraries
SELECT id, name, accepts, placement_modes, upgrades FROM library_roots WHERE removing_since IS NULL ORDER BY id;

-- name: folders
-- What the user matched comes first, then what was found, then where files of it or of another season were put before.
SELECT library_id, folder FROM (
    SELECT library_id, folder, CASE WHEN matched_by = 'keeper' THEN 0 ELSE 1 END AS place, id
    FROM folder_matches
    WHERE is_ignored = 0 AND (series_id = :series_id OR metadata_id = CAST(:metadata_id AS bigint))
    UNION ALL
    SELECT library_id, folder, 2, series_id FROM series_places WHERE series_id = :series_id
    UNION ALL
    SELECT other.library_id, other.folder, 3, other.series_id
    FROM metadata AS mine JOIN metadata AS theirs ON theirs.tmdb_id = mine.tmdb_id AND theirs.tmdb_kind = mine.tmdb_kind
    JOIN series ON series.metadata_id = theirs.id JOIN series_places AS other ON other.series_id = series.id
    WHERE mine.id = CAST(:metadata_id AS bigint) AND mine.tmdb_kind = 'tv'
) AS found
ORDER BY place, id;

-- name: chosen
SELECT library_id FROM series WHERE id = :series_id;

-- name: paths
SELECT relative_path FROM library_files
WHERE library_id = :library_id AND relative_path > :first AND relative_path < :beyond AND is_missing = 0 LIMIT :most;

-- name: places
SELECT folder FROM series_places WHERE library_id = :library_id;

-- name: remember
INSERT INTO series_places (series_id, library_id, folder, updated_at) VALUES (:series_id, :library_id, :folder, :now)
ON CONFLICT (series_id) DO NOTHING;

-- name: place
SELECT library_id, folder FROM series_places WHERE series_id = :series_id;

-- name: forget
DELETE FROM series_places WHERE series_id = :series_id;
