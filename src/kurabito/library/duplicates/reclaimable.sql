-- name: first_groups
SELECT file_count, total_size_bytes, hash_algorithm, content_hash, copies FROM duplicate_groups
WHERE copies > 1
ORDER BY {waste} DESC, hash_algorithm, content_hash LIMIT :limit;

-- name: groups_after
-- Two stretches of the index, as on the pages of the other order.
SELECT file_count, total_size_bytes, hash_algorithm, content_hash, copies FROM (
    SELECT * FROM (
        SELECT * FROM duplicate_groups
        WHERE copies > 1 AND {waste} = :waste AND (hash_algorithm, content_hash) > (:hash_algorithm, :content_hash)
        ORDER BY hash_algorithm, content_hash LIMIT :limit
    ) AS same_waste
    UNION ALL
    SELECT * FROM (
        SELECT * FROM duplicate_groups
        WHERE copies > 1 AND {waste} < :waste
        ORDER BY {waste} DESC, hash_algorithm, content_hash LIMIT :limit
    ) AS less_waste
) AS ranges
LIMIT :limit;

-- name: total
SELECT count(*), coalesce(sum(waste), 0) FROM (
    SELECT {waste} AS waste FROM duplicate_groups WHERE copies > 1
    ORDER BY {waste} DESC, hash_algorithm, content_hash LIMIT :limit
) AS largest;
