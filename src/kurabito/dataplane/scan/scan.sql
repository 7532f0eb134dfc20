-- name: find_library
SELECT root_path, ignored, hash_policy,
       (SELECT min(relative_path) FROM library_files WHERE library_id = library_roots.id) IS NOT NULL
FROM library_roots WHERE id = :library;

-- name: last_session
SELECT {session} FROM scan_sessions WHERE job_id = :job ORDER BY id DESC LIMIT 1;

-- name: begin_session
INSERT INTO scan_sessions (job_id, library_id, total_paths, started_at)
VALUES (:job, :library, (
    SELECT total_paths FROM scan_sessions WHERE library_id = :library AND status = 'succeeded' ORDER BY id DESC LIMIT 1
), :now);

-- name: abandon_others
UPDATE scan_sessions
SET status = 'failed', finished_at = :now, error_code = 'SCAN_ABANDONED', error_message = 'its job ended before the scan did'
WHERE library_id = :library AND status = 'running' AND job_id <> :job;

-- name: forget_unseen_ahead
DELETE FROM scan_findings
WHERE session_id = :session AND finding = 'unseen'
  AND EXISTS (SELECT 1 FROM library_files WHERE id = file_id AND relative_path > :after);

-- name: mark_session
UPDATE scan_sessions
SET files_seen = :files, directories_seen = :folders, bytes_seen = :bytes, error_count = :errors,
    resume_after = :after, error_message = :unreadable
WHERE id = :session;

-- name: count_in_session
UPDATE scan_sessions
SET added_count = added_count + :added, changed_count = changed_count + :changed,
    moved_count = moved_count + :moved, removed_count = removed_count + :removed
WHERE id = :session;

-- name: changes_of_session
SELECT added_count + changed_count + moved_count + removed_count FROM scan_sessions WHERE id = :session;

-- name: end_session
UPDATE scan_sessions
SET status = :status, error_code = :code, error_message = :message, finished_at = :now,
    total_paths = CASE WHEN :status = 'succeeded' THEN files_seen + directories_seen ELSE total_paths END
WHERE id = :session;

-- name: unsettled
-- What earlier scans left undone: the last of any library failed, or this library is not as it was at its last scan. What was
-- placed into it since then entered it without being compared with others.
WITH last AS (
    SELECT coalesce((
        SELECT started_at FROM scan_sessions
        WHERE id < :session AND library_id = :library AND status = 'succeeded' ORDER BY id DESC LIMIT 1
    ), 0) AS began
)
SELECT 1 FROM library_roots CROSS JOIN last
WHERE id = :library AND (
    (SELECT status FROM scan_sessions WHERE id < :session ORDER BY id DESC LIMIT 1) <> 'succeeded'
    OR updated_at >= began
    OR EXISTS (SELECT 1 FROM placements WHERE library_id = :library AND status = 'completed' AND finished_at >= began)
);

-- name: known_until
SELECT relative_path, size_bytes, mtime_ns, inode, device FROM library_files
WHERE library_id = :library AND relative_path > :after AND relative_path <= :until AND is_missing = 0
ORDER BY relative_path LIMIT :most;

-- name: known_after
SELECT relative_path, size_bytes, mtime_ns, inode, device FROM library_files
WHERE library_id = :library AND relative_path > :after AND is_missing = 0
ORDER BY relative_path LIMIT :most;

-- name: encoded_until
SELECT {string_agg}(line, '//') FROM (
    SELECT size_bytes || ' ' || mtime_ns || ' ' || inode || ' ' || device || ' ' || relative_path AS line
    FROM library_files
    WHERE library_id = :library AND relative_path > :after AND relative_path <= :until AND is_missing = 0
    ORDER BY relative_path LIMIT :most
) AS chunk;

-- name: stored_among
-- Most of them are missing; a file that was put back meanwhile is not.
SELECT relative_path, size_bytes, mtime_ns, inode, device, coalesce(hashed_at, created_at) FROM library_files
WHERE library_id = :library AND relative_path {among paths};

-- name: add_files
INSERT INTO library_files
    (library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, created_at, updated_at)
SELECT :library, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, :now, :now FROM (<rows>) AS seen;

-- name: change_files
UPDATE library_files
SET size_bytes = {new}size_bytes, mtime_ns = {new}mtime_ns, inode = {new}inode, device = {new}device, is_missing = 0,
    needs_hash = {new}needs_hash, updated_at = :now, {no_hash}
{rows}
WHERE library_files.library_id = :library AND library_files.relative_path = {new}relative_path;

-- name: bring_back
UPDATE library_files SET is_missing = 0, updated_at = :now WHERE library_id = :library AND relative_path {among paths};

-- name: note_findings
INSERT INTO scan_findings (session_id, finding, file_id)
SELECT :session, :finding, id FROM library_files WHERE library_id = :library AND relative_path {among paths}
ON CONFLICT DO NOTHING;

-- name: moved_files
-- Hard links are one file under several paths: each path that went is paired with one that came.
WITH found AS (
    SELECT finding, id, relative_path, device, inode, size_bytes, mtime_ns, coalesce(hashed_at, created_at) AS known_at,
           row_number() OVER (PARTITION BY finding, device, inode, size_bytes, mtime_ns ORDER BY id) AS place
    FROM scan_findings JOIN library_files ON id = file_id
    WHERE session_id = :session
)
SELECT gone.id, came.id, came.relative_path, came.inode, gone.known_at FROM found AS gone
JOIN found AS came USING (device, inode, size_bytes, mtime_ns, place)
WHERE gone.finding = 'unseen' AND came.finding = 'added'
ORDER BY gone.id;

-- name: forget_files
DELETE FROM library_files WHERE id {among files};

-- name: move_files
UPDATE library_files SET relative_path = {new}relative_path, updated_at = :now
{rows}
WHERE library_files.id = {new}id;

-- name: forget_findings_about
DELETE FROM scan_findings WHERE session_id = :session AND file_id {among files};

-- name: some_unseen
SELECT file_id FROM scan_findings WHERE session_id = :session AND finding = 'unseen' ORDER BY file_id LIMIT :most;

-- name: mark_missing
-- What was put back after the scan came by is there.
UPDATE library_files SET is_missing = 1, updated_at = :now
WHERE id {among files} AND is_missing = 0 AND updated_at <= (SELECT started_at FROM scan_sessions WHERE id = :session);

-- name: forget_some_findings
-- Of this scan, which needs them no more, and of scans that were given up.
DELETE FROM scan_findings
WHERE (session_id, finding, file_id) IN (
    SELECT session_id, finding, file_id FROM scan_findings
    WHERE session_id = :session OR session_id IN (SELECT id FROM scan_sessions WHERE status <> 'running')
    LIMIT :most
);

-- name: other_files
SELECT (SELECT min(library_id) FROM library_files) <> :library OR (SELECT max(library_id) FROM library_files) <> :library;

-- name: misjudged_files
-- Only files that share their size with another can have a duplicate; where everything is to be hashed, all count.
WITH shared AS MATERIALIZED (
    SELECT size_bytes FROM library_files WHERE is_missing = 0 GROUP BY size_bytes HAVING count(*) > 1
)
SELECT id, wanted FROM (
    SELECT id, needs_hash, content_hash, CASE WHEN size_bytes > 0 AND (
        size_bytes IN (SELECT size_bytes FROM shared)
        OR library_id IN (SELECT id FROM library_roots WHERE hash_policy = 'all')
    ) THEN 1 ELSE 0 END AS wanted
    FROM library_files WHERE is_missing = 0
) AS judged
WHERE (needs_hash = 0 AND content_hash IS NULL AND wanted = 1)
   OR ((needs_hash = 1 OR content_hash IS NOT NULL) AND wanted = 0);

-- name: want_hash_at
UPDATE library_files SET needs_hash = 1, updated_at = :now WHERE library_id = :library AND relative_path {among paths};

-- name: want_hash
UPDATE library_files SET needs_hash = 1, updated_at = :now WHERE id {among files};

-- name: want_no_hash
UPDATE library_files SET needs_hash = 0, updated_at = :now, {no_hash} WHERE id {among files};
