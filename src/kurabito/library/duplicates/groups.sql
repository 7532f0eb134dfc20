-- name: first_groups
SELECT file_count, total_size_bytes, hash_algorithm, content_hash, copies FROM duplicate_groups
WHERE {shown}
ORDER BY file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash LIMIT :limit;

-- name: groups_after
-- Each range is one stretch of the index, and the next is not looked at before the one above it has run dry. As one condition
-- with OR the database would pass by every group that was shown already.
SELECT file_count, total_size_bytes, hash_algorithm, content_hash, copies FROM (
    SELECT * FROM (
        SELECT * FROM duplicate_groups
        WHERE {shown} AND file_count = :file_count AND total_size_bytes = :total_size_bytes
          AND (hash_algorithm, content_hash) > (:hash_algorithm, :content_hash)
        ORDER BY hash_algorithm, content_hash LIMIT :limit
    ) AS same_size
    UNION ALL
    SELECT * FROM (
        SELECT * FROM duplicate_groups
        WHERE {shown} AND file_count = :file_count AND total_size_bytes < :total_size_bytes
        ORDER BY total_size_bytes DESC, hash_algorithm, content_hash LIMIT :limit
    ) AS same_count
    UNION ALL
    SELECT * FROM (
        SELECT * FROM duplicate_groups
        WHERE {shown} AND file_count < :file_count
        ORDER BY file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash LIMIT :limit
    ) AS smaller
) AS ranges
LIMIT :limit;

-- name: group_of
SELECT file_count, total_size_bytes, hash_algorithm, content_hash, copies FROM duplicate_groups
WHERE hash_algorithm = :hash_algorithm AND content_hash = :content_hash AND {shown};

-- name: files_of_group
SELECT id, library_id, relative_path, size_bytes, mtime_ns, device, inode FROM hashed_files
WHERE hash_algorithm = :hash_algorithm AND content_hash = :content_hash AND id > :after
ORDER BY id LIMIT :limit;
