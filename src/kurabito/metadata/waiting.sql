-- name: chunk
-- Each part reads the beginning of its own stretch of the index; those that were asked long ago become fewer with every chunk.
SELECT {record} FROM metadata
WHERE id IN (
    SELECT id FROM (
        SELECT id FROM {place} WHERE {lacks} AND {asked_at} IS NULL AND id > :after ORDER BY id LIMIT :limit) AS never
    UNION
    SELECT id FROM (
        SELECT id FROM {place}
        WHERE {lacks} AND {asked_at} < :now - :cool_down AND id > :after ORDER BY id LIMIT :limit) AS long_ago)
ORDER BY id LIMIT :limit;

-- name: count
SELECT count(*) FROM {place} WHERE {lacks} AND ({asked_at} IS NULL OR {asked_at} < :now - :cool_down);
