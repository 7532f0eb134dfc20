-- name: settled_since
-- Whether a file of the library was read, found to have no equal, or put off since a moment.
SELECT 1 AS settled FROM library_files
WHERE library_id = :library_id AND updated_at >= :since AND (needs_hash = 0 OR hash_retry_after > :now) LIMIT 1;

-- name: foreign
SELECT id FROM library_files
WHERE hash_algorithm = :algorithm AND content_hash IS NOT NULL AND is_missing = 0 AND needs_hash = 0
  AND library_id {among libraries}
LIMIT :most;

-- name: read_again
-- The sample of its edges is the same for every algorithm.
UPDATE library_files
SET needs_hash = 1, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL, hashed_mtime_ns = NULL,
    hashed_at = NULL, updated_at = :now
WHERE id {among files};
