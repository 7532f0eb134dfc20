-- name: shown
SELECT id, poster_url FROM metadata
WHERE id > :after AND poster_url IS NOT NULL AND substr(poster_url, 1, 9) = '/posters/' ORDER BY id LIMIT :limit;

-- name: backdrops
SELECT metadata_id, backdrop_url FROM metadata_extras
WHERE metadata_id > :after AND backdrop_url IS NOT NULL AND substr(backdrop_url, 1, 9) = '/posters/'
ORDER BY metadata_id LIMIT :limit;
