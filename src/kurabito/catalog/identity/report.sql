-- name: clues
-- What spoke for the series of its links, and how often.
SELECT clues, count(*) FROM anime_links WHERE series_id = :id AND question_id IS NULL GROUP BY clues ORDER BY 2 DESC, 1 LIMIT 50;

-- name: questions
-- The open questions that keep links here.
SELECT DISTINCT question_id FROM anime_links WHERE series_id = :id AND question_id IS NOT NULL ORDER BY 1;

-- name: rulings
SELECT ruling.folded, ruling.season, ruling.year, ruling.country, ruling.group_folded
FROM identity_rulings AS ruling WHERE ruling.series_id = :id ORDER BY ruling.id LIMIT 200;

-- name: series_of_records
SELECT record.bgm_id, min(series.id)
FROM {given} CROSS JOIN metadata AS record CROSS JOIN series
WHERE record.bgm_id = CAST(given.value ->> 'id' AS bigint) AND series.metadata_id = record.id AND series.merged_into IS NULL
GROUP BY record.bgm_id;
