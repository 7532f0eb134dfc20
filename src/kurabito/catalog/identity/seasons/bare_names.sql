-- name: titles
-- A few are enough: those of one show repeat each other.
SELECT item.title FROM anime_links AS link JOIN raw_anime_items AS item ON item.id = link.raw_item_id
WHERE link.series_id = :id ORDER BY link.id LIMIT 60;
