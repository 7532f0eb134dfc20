-- name: stored
SELECT {naming} FROM library_naming WHERE library_id = :id;

-- name: store
INSERT INTO library_naming (library_id, {naming}, changed_at)
VALUES (:id, :series_folder, :season_folder, :episode_file, :film_folder, :film_file, :numbering, :subtitle_style, :extras, :now)
ON CONFLICT (library_id) DO UPDATE
SET series_folder = excluded.series_folder, season_folder = excluded.season_folder, episode_file = excluded.episode_file,
    film_folder = excluded.film_folder, film_file = excluded.film_file, numbering = excluded.numbering,
    subtitle_style = excluded.subtitle_style, extras = excluded.extras, changed_at = excluded.changed_at;

-- name: known_series
-- The series that were changed last, with what their records say.
SELECT series.title, series.season, series.kind, coalesce(metadata.year, series.year) AS year,
       metadata.title_english, metadata.title_japanese, metadata.title_chinese,
       metadata.tmdb_id, metadata.bgm_id, metadata.anidb_id
FROM series LEFT JOIN metadata ON metadata.id = series.metadata_id
WHERE series.state = 'followed'
ORDER BY series.updated_at DESC, series.id DESC LIMIT :limit;
