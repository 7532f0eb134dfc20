-- name: insert
INSERT INTO library_roots (name, root_path, scan_interval, next_scan_at, watched, algorithm, hash_policy, ignored,
                           accepts, placement_modes, upgrades, writes_nfo, writes_posters, created_at, updated_at)
VALUES (:name, :root_path, :scan_interval, :now + CAST(:scan_interval AS bigint), :watched, :algorithm, :hash_policy, :ignored,
        :accepts, :placement_modes, :upgrades, :writes_nfo, :writes_posters, :now, :now)
RETURNING id;

-- name: get
SELECT {library} FROM library_roots WHERE id = :id;

-- name: page
SELECT {library} FROM library_roots WHERE id > :after ORDER BY id LIMIT :limit;

-- name: all
SELECT {library} FROM library_roots ORDER BY id;

-- name: watched
SELECT {library} FROM library_roots WHERE watched = 1 AND removing_since IS NULL ORDER BY id;

-- name: named
SELECT id FROM library_roots WHERE name = :name;

-- name: update
-- A new interval counts from now on.
UPDATE library_roots
SET name = :name, watched = :watched, algorithm = :algorithm, hash_policy = :hash_policy, ignored = :ignored,
    accepts = :accepts, placement_modes = :placement_modes, upgrades = :upgrades,
    writes_nfo = :writes_nfo, writes_posters = :writes_posters,
    next_scan_at = CASE WHEN scan_interval = :scan_interval THEN next_scan_at
                        ELSE :now + CAST(:scan_interval AS bigint) END,
    scan_interval = :scan_interval, updated_at = :now
WHERE id = :id;

-- name: note_scan
UPDATE library_roots SET last_scanned_at = :now WHERE id = :id;

-- name: leaving
SELECT 1 FROM library_roots WHERE id = :id AND removing_since IS NOT NULL;

-- name: extent
-- What the last scan saw: counting a million files again would take longer than a reader wants to wait.
SELECT files_seen, bytes_seen FROM scan_sessions
WHERE library_id = :id AND status = 'succeeded' ORDER BY id DESC LIMIT 1;

-- name: work_left
SELECT 1 FROM library_files
WHERE library_id = :id AND needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NULL
UNION ALL
SELECT 1 FROM library_files
WHERE library_id = :id AND needs_hash = 1 AND is_missing = 0 AND hash_retry_after <= :now
LIMIT 1;

-- name: with_work
-- Asked for the first row each, a library costs two looks into an index, however many of its files wait.
SELECT id FROM library_roots
WHERE last_scanned_at IS NOT NULL AND coalesce((
    SELECT 1 FROM library_files
    WHERE library_id = library_roots.id AND needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NULL LIMIT 1
), (
    SELECT 1 FROM library_files
    WHERE library_id = library_roots.id AND needs_hash = 1 AND is_missing = 0 AND hash_error_count > 0
      AND hash_retry_after <= :now LIMIT 1
)) IS NOT NULL
ORDER BY id;

-- name: due
SELECT id FROM library_roots WHERE next_scan_at <= :now ORDER BY next_scan_at, id;

-- name: take_due
UPDATE library_roots SET next_scan_at = :now + scan_interval WHERE next_scan_at <= :now RETURNING id;
