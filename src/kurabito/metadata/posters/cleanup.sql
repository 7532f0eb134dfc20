-- name: shown
SELECT id, poster_url FROM metadata
WHERE id > :after AND poster_url IS NOT NULL AND substr(poster_url, 1, 9) = '/posters/' ORDER BY id LIMIT :limit;
