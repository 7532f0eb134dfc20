-- name: entries
SELECT id, library_id, relative_path, size_bytes, hash_algorithm, content_hash, trashed_at FROM trash_entries
WHERE left_at IS NULL
  AND (trashed_at < :trashed_at OR (trashed_at = :trashed_at AND id < :id))
ORDER BY trashed_at DESC, id DESC LIMIT :limit;

-- name: all_entries
SELECT id FROM trash_entries WHERE left_at IS NULL ORDER BY trashed_at DESC, id DESC;

-- name: entries_of_plan
-- By the steps of its last job that was no dry run: an entry has the id of the row of the log that moved it.
SELECT entry.id
FROM deletion_plans AS plan CROSS JOIN deletion_log AS log CROSS JOIN trash_entries AS entry
WHERE plan.id = :plan_id AND log.job_id = plan.job_id AND log.action = 'trash' AND log.state = 'done'
  AND entry.id = log.id AND entry.left_at IS NULL
ORDER BY log.position;

-- name: entry
SELECT id, library_id, relative_path, size_bytes, hash_algorithm, content_hash, trashed_at, left_as FROM trash_entries
WHERE id = :id;

-- name: last_restore
-- Several entries may have come from one path, so the order itself is asked which of them it was about.
SELECT log.error_code, log.error_message FROM deletion_log AS log JOIN jobs AS job ON job.id = log.job_id
WHERE log.action = 'restore' AND log.library_id = :library_id AND log.relative_path = :relative_path
  AND log.created_at >= :trashed_at AND log.state = 'refused' AND job.payload LIKE :ordered
ORDER BY log.created_at DESC LIMIT 1;

-- name: expired
SELECT id FROM trash_entries WHERE left_at IS NULL AND trashed_at <= :now - CAST(:retention AS bigint)
ORDER BY trashed_at, id LIMIT :limit;

-- name: active_orders
-- An order that waits until removing is allowed again is in no other's way.
SELECT payload FROM jobs
WHERE kind = 'delete' AND dry_run = 0 AND status IN ('pending', 'running', 'retryable') AND payload LIKE :ordered
  AND (status = 'running' OR {may_run});

-- name: abandoned
SELECT log.id FROM deletion_log AS log LEFT JOIN jobs AS job ON job.id = log.job_id
WHERE log.state = 'intent' AND (job.id IS NULL OR job.status IN ('completed', 'failed', 'cancelled'))
LIMIT 1;
