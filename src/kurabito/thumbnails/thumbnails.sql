-- name: files
SELECT {file} FROM library_files AS file WHERE file.id {among file_ids};

-- name: known
SELECT {thumbnail} FROM thumbnails WHERE thumb_key IN (SELECT given.value ->> 'thumb_key' FROM {given});

-- name: get
SELECT {thumbnail} FROM thumbnails WHERE thumb_key = :thumb_key;

-- name: admit
-- As many as there is room for. No other process admits meanwhile: on SQLite by its write lock, on PostgreSQL by ours.
INSERT INTO thumbnails (thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes, source_mtime_ns,
                        output_path, status, created_at, updated_at)
SELECT given.value ->> 'thumb_key', CAST(given.value ->> 'file_id' AS bigint), given.value ->> 'group_key',
       given.value ->> 'media_type', given.value ->> 'format', CAST(given.value ->> 'max_dimension' AS integer),
       CAST(given.value ->> 'source_size_bytes' AS bigint), CAST(given.value ->> 'source_mtime_ns' AS bigint),
       given.value ->> 'output_path', 'pending', :now, :now
FROM {given}
WHERE NOT EXISTS (SELECT 1 FROM thumbnails AS known WHERE known.thumb_key = given.value ->> 'thumb_key')
LIMIT {room}
ON CONFLICT DO NOTHING;

-- name: requeue
-- A file may have been touched without being changed, so what is expected to be found is written again.
UPDATE thumbnails
SET status = 'pending', source_size_bytes = due.size_bytes, source_mtime_ns = due.mtime_ns, worker_id = NULL,
    worker_heartbeat_at = NULL, lease_expires_at = NULL, retry_after = NULL, finished_at = NULL, updated_at = :now
FROM (
    SELECT failed.id AS failed_id, CAST(given.value ->> 'source_size_bytes' AS bigint) AS size_bytes,
           CAST(given.value ->> 'source_mtime_ns' AS bigint) AS mtime_ns
    FROM {given} JOIN thumbnails AS failed ON failed.thumb_key = given.value ->> 'thumb_key'
    WHERE failed.status = 'failed' AND (failed.retry_after IS NULL OR failed.retry_after <= :now)
    LIMIT {room}
) AS due
WHERE thumbnails.id = due.failed_id;

-- name: draw_again
UPDATE thumbnails SET status = 'pending', finished_at = NULL, updated_at = :now
WHERE thumb_key = :thumb_key AND status = 'ready';

-- name: counts
SELECT status, count(*), coalesce(sum(bytes_size), 0) FROM thumbnails GROUP BY status;

-- name: may_be_tried_again
SELECT count(*) FROM thumbnails WHERE status = 'failed' AND (retry_after IS NULL OR retry_after <= :now);

-- name: cleanups_waiting
SELECT count(*), min(execute_after) FROM thumbnail_cleanup_jobs WHERE status = 'pending';

-- name: page
SELECT t.id, t.thumb_key, t.group_key, t.max_dimension, t.format, {file}
FROM thumbnails AS t LEFT JOIN library_files AS file ON file.id = t.file_id
WHERE t.id > :after ORDER BY t.id LIMIT :limit;

-- name: paths
SELECT output_path FROM thumbnails WHERE output_path {among paths};

-- name: active_cleanup
SELECT {cleanup} FROM thumbnail_cleanup_jobs WHERE group_key = :group_key AND status IN ('pending', 'running');

-- name: take_up_cleanup
UPDATE thumbnail_cleanup_jobs
SET status = 'pending', execute_after = :now + CAST(:delay AS bigint), error_code = NULL, error_message = NULL, worker_id = NULL,
    finished_at = NULL, updated_at = :now
WHERE id = (SELECT max(id) FROM thumbnail_cleanup_jobs WHERE group_key = :group_key AND status = 'failed')
  AND NOT EXISTS (
      SELECT 1 FROM thumbnail_cleanup_jobs WHERE group_key = :group_key AND status IN ('pending', 'running')
  );

-- name: schedule_cleanup
INSERT INTO thumbnail_cleanup_jobs (group_key, status, execute_after, created_at, updated_at)
VALUES (:group_key, 'pending', :now + CAST(:delay AS bigint), :now, :now)
ON CONFLICT (group_key) WHERE status IN ('pending', 'running') DO NOTHING;

-- name: forget_cleanups
DELETE FROM thumbnail_cleanup_jobs WHERE status = 'completed' AND finished_at <= :before;
