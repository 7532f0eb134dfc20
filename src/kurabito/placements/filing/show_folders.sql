-- name: shows_in
-- The other series that were given a folder.
SELECT series.id, series.season, CASE WHEN record.tmdb_kind = 'tv' THEN record.tmdb_id END
FROM series_places AS place JOIN series ON series.id = place.series_id
LEFT JOIN metadata AS record ON record.id = series.metadata_id
WHERE place.library_id = :library_id AND place.folder = :folder AND place.series_id <> :series_id
    AND series.kind = 'tv' AND series.merged_into IS NULL;

-- name: matched_to
-- The show that a folder is matched to.
SELECT record.tmdb_id FROM folder_matches AS match JOIN metadata AS record ON record.id = match.metadata_id
WHERE match.library_id = :library_id AND match.folder = :folder AND match.is_ignored = 0
    AND record.tmdb_kind = 'tv' AND record.tmdb_id IS NOT NULL;
