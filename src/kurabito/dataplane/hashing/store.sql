-- name: library
SELECT root_path, algorithm, hash_policy FROM library_roots WHERE id = :library_id;

-- name: count_waiting
SELECT count(*) + (
    SELECT count(*) FROM library_files
    WHERE library_id = :library_id AND needs_hash = 1 AND is_missing = 0 AND hash_retry_after <= :now
) FROM library_files
WHERE library_id = :library_id AND needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NULL;

-- name: unsampled
-- Files that may be tried now. Two questions and no OR: each has an index of its own, in the order of ids.
SELECT id, relative_path, size_bytes, mtime_ns, inode, device FROM (
    SELECT * FROM (SELECT {waiting} AND edge_hash IS NULL AND hash_retry_after IS NULL {branch id}) AS untried
    UNION ALL
    SELECT * FROM (SELECT {waiting} AND edge_hash IS NULL AND hash_retry_after <= :now {branch id}) AS due
) AS file
ORDER BY id LIMIT :limit;

-- name: sampled
-- A file that was hashed without being sampled may be a twin of any file of its size. Two questions and no OR inside of one:
-- each is answered by a look into the index, however many files have that size.
SELECT id, relative_path, size_bytes, mtime_ns, inode, device, EXISTS (
    SELECT 1 FROM library_files AS other
    WHERE other.size_bytes = file.size_bytes AND other.edge_hash = file.edge_hash
      AND other.id <> file.id AND other.is_missing = 0
      AND (other.edge_hash IS NOT NULL OR other.content_hash IS NOT NULL)
) OR EXISTS (
    SELECT 1 FROM library_files AS other
    WHERE other.size_bytes = file.size_bytes AND other.edge_hash IS NULL
      AND other.id <> file.id AND other.is_missing = 0
      AND (other.edge_hash IS NOT NULL OR other.content_hash IS NOT NULL)
) FROM (
    SELECT * FROM (SELECT {waiting} AND edge_hash IS NOT NULL AND hash_retry_after IS NULL {branch id}) AS untried
    UNION ALL
    SELECT * FROM (SELECT {waiting} AND edge_hash IS NOT NULL AND hash_retry_after <= :now {branch id}) AS due
) AS file
ORDER BY id LIMIT :limit;

-- name: settle_unique
UPDATE library_files SET needs_hash = 0, updated_at = :now WHERE id {among ids};

-- name: want_twins
-- Their twins, in whichever library, have to be read as well.
UPDATE library_files SET needs_hash = 1, updated_at = :now
WHERE id IN (
    SELECT other.id FROM library_files AS mine
    JOIN library_files AS other ON other.size_bytes = mine.size_bytes AND other.edge_hash = mine.edge_hash
    WHERE mine.id {among ids} AND other.is_missing = 0
      AND (other.edge_hash IS NOT NULL OR other.content_hash IS NOT NULL)
      AND other.needs_hash = 0 AND other.content_hash IS NULL
);

-- name: want_sampled
-- Files that were settled by their samples, of the sizes of files that were read without one.
UPDATE library_files SET needs_hash = 1, updated_at = :now
WHERE size_bytes {among sizes} AND is_missing = 0 AND edge_hash IS NOT NULL AND needs_hash = 0 AND content_hash IS NULL;

-- name: note_edges
-- What is written is about the file that was read: a row that tells of another one by now stays as it is.
UPDATE library_files
SET edge_hash = {new}digest, hash_error_count = 0, hash_last_error = NULL, hash_last_error_at = NULL,
    hash_retry_after = NULL, updated_at = :now
{rows}
WHERE library_files.id = {new}id AND library_files.size_bytes = {new}size_bytes
  AND library_files.mtime_ns = {new}mtime_ns AND is_missing = 0;

-- name: note_contents
UPDATE library_files
SET content_hash = {new}digest, hash_algorithm = {new}algorithm, hashed_size_bytes = {new}size_bytes,
    hashed_mtime_ns = {new}mtime_ns, hashed_at = :now, needs_hash = 0, hash_error_count = 0, hash_last_error = NULL,
    hash_last_error_at = NULL, hash_retry_after = NULL, updated_at = :now
{rows}
WHERE library_files.id = {new}id AND library_files.size_bytes = {new}size_bytes
  AND library_files.mtime_ns = {new}mtime_ns AND is_missing = 0;

-- name: note_problems
-- Each failure doubles the time until the next attempt, up to most of a day. A file that changed is no failure: the next scan
-- sees what it is now.
UPDATE library_files
SET hash_error_count = hash_error_count + {new}counts, hash_last_error = {new}problem, hash_last_error_at = :now,
    hash_retry_after = :now + {new}wait * {longer},
    updated_at = :now
{rows}
WHERE library_files.id = {new}id AND library_files.size_bytes = {new}size_bytes
  AND library_files.mtime_ns = {new}mtime_ns AND is_missing = 0;
