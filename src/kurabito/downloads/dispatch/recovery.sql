-- name: requeue_due
UPDATE downloads SET status = 'pending', queued_at = :now, updated_at = :now, reason = NULL, retry_at = NULL
WHERE status = 'no_downloader' AND retry_at <= :now
RETURNING id;

-- name: stuck
-- Waiting for a while, so that the task that has them can be found; what died more than once waits longer.
SELECT id FROM downloads
WHERE status = 'pending'
    AND updated_at <= :now - CASE rescues WHEN 0 THEN CAST(:soon AS bigint) ELSE CAST(:age AS bigint) END
ORDER BY id;

-- name: rescue
UPDATE downloads SET queued_at = :now, updated_at = :now, rescues = rescues + 1
WHERE status = 'pending' AND updated_at <= :now - CAST(:soon AS bigint)
    AND id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING id;

-- name: readopt
-- What a downloader had before it was removed, and has again: it is known by its name.
UPDATE downloads SET module_id = :module_id, missed_polls = 0
WHERE module_id IS NULL AND status IN ('downloading', 'downloader_error', 'completed') AND hash IS NOT NULL
    AND (SELECT attempt.module_name FROM dispatch_attempts AS attempt
         WHERE attempt.download_id = downloads.id AND attempt.outcome = 'accepted'
         ORDER BY attempt.id DESC LIMIT 1) = :module_name
RETURNING id;

-- name: readopt_attempts
UPDATE dispatch_attempts SET module_id = :module_id
WHERE download_id IN (SELECT CAST(given.value AS bigint) FROM {given}) AND module_id IS NULL AND module_name = :module_name;

-- name: readopt_cleanups
-- Also what has still to be cleaned up there.
UPDATE dispatch_attempts SET module_id = :module_id
WHERE module_id IS NULL AND owed IS NOT NULL AND module_name = :module_name;
