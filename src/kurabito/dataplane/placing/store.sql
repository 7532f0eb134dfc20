-- name: library
SELECT root_path, algorithm, hash_policy,
       (SELECT min(relative_path) FROM library_files WHERE library_id = library_roots.id AND is_missing = 0) IS NOT NULL
FROM library_roots WHERE id = :id AND removing_since IS NULL;

-- name: under_way
SELECT id FROM placements WHERE status = 'running' AND id {among ids};

-- name: is_known
-- A scan may have been there first, and its row may have been hashed by now.
UPDATE library_files SET is_missing = 0, updated_at = :now
WHERE library_id = :library_id AND relative_path = :path AND size_bytes = :size AND mtime_ns = :mtime_ns AND inode = :inode
    AND device = :device AND (content_hash IS NOT NULL OR :has_hash = 0);

-- name: enter
-- Which files share their size, and so may be equal, is judged by the next scan.
INSERT INTO library_files
    (library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, hash_algorithm, content_hash,
     hashed_size_bytes, hashed_mtime_ns, hashed_at, created_at, updated_at)
VALUES (:library_id, :path, :size, :mtime_ns, :inode, :device, :needs_hash, :hash_algorithm, :content_hash,
        :hashed_size, :hashed_mtime_ns, :hashed_at, :now, :now)
ON CONFLICT (library_id, relative_path) DO UPDATE
SET size_bytes = excluded.size_bytes, mtime_ns = excluded.mtime_ns, inode = excluded.inode, device = excluded.device,
    is_missing = 0, needs_hash = excluded.needs_hash, edge_hash = NULL, hash_algorithm = excluded.hash_algorithm,
    content_hash = excluded.content_hash, hashed_size_bytes = excluded.hashed_size_bytes,
    hashed_mtime_ns = excluded.hashed_mtime_ns, hashed_at = excluded.hashed_at, hash_error_count = 0,
    hash_last_error = NULL, hash_last_error_at = NULL, hash_retry_after = NULL, shared_inode = NULL,
    updated_at = excluded.updated_at;

-- name: known_paths
SELECT relative_path FROM library_files WHERE library_id = :library_id AND relative_path {among paths};

-- name: enter_many
-- What a scan found first, in this very moment, it saw on the same disk.
INSERT INTO library_files
    (library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, created_at, updated_at)
SELECT :library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, :now, :now FROM (<rows>) AS placed
WHERE TRUE ON CONFLICT DO NOTHING;

-- name: forget_path
-- What had the new name before is gone, else nothing could have been renamed to it.
DELETE FROM library_files WHERE library_id = :library_id AND relative_path = :path
    AND EXISTS (SELECT 1 FROM library_files AS source WHERE source.library_id = :library_id AND source.relative_path = :source);

-- name: rename
UPDATE library_files SET relative_path = :path, is_missing = 0, updated_at = :now
WHERE library_id = :library_id AND relative_path = :source;

-- name: known_hash
SELECT content_hash FROM library_files
WHERE library_id = :library_id AND relative_path = :path AND hash_algorithm = :algorithm AND needs_hash = 0 AND is_missing = 0
    AND hashed_size_bytes = :size AND hashed_mtime_ns = :mtime_ns AND size_bytes = :size AND mtime_ns = :mtime_ns;

-- name: add_entry
INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash,
                           successor_path, trashed_at)
VALUES (:id, coalesce((SELECT id FROM library_files WHERE library_id = :library_id AND relative_path = :path), 0), :library_id,
        :path, :trash_path, :size, :algorithm, :content_hash, :successor, :now)
ON CONFLICT DO NOTHING;

-- name: is_gone
-- Under the same name the row tells of the new file from now on.
UPDATE library_files SET is_missing = 1, updated_at = :now
WHERE library_id = :library_id AND relative_path = :path AND relative_path <> CAST(:successor AS text);

-- name: left_trash
UPDATE trash_entries SET left_as = 'restored', left_at = :now
WHERE library_id = :library_id AND trash_path = :trash_path AND left_at IS NULL;
