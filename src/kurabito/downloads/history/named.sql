-- name: named
-- The releases that have the text in their titles, or are of a show that has it.
SELECT link.id FROM anime_links AS link JOIN series ON series.id = link.series_id
WHERE {position}(lower(link.title || ' ' || series.title), lower(:text)) > 0 LIMIT :limit;
