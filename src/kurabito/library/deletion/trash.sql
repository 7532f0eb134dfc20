-- name: entries
SELECT id, library_id, relative_path, size_bytes, hash_algorithm, content_hash, trashed_at FROM trash_entries
WHERE left_at IS NULL
  AND (trashed_at < :trashed_at OR (trashed_at = :trashed_at AND id < :id))
ORDER BY trashed_at DESC, id DESC LIMIT :limit;

-- name: entry
SELECT id, library_id, relative_path, size_bytes, hash_algorithm, content_hash, trashed_at, left_as FROM trash_entries
WHERE id = :id;

-- name: expired
SELECT id FROM trash_entries WHERE left_at IS NULL AND trashed_at <= :now - CAST(:retention AS bigint)
ORDER BY trashed_at, id LIMIT :limit;

-- name: active_orders
SELECT payload FROM jobs
WHERE kind = 'delete' AND dry_run = 0 AND status IN ('pending', 'running', 'retryable') AND payload LIKE :ordered;

-- name: abandoned
SELECT log.id FROM deletion_log AS log LEFT JOIN jobs AS job ON job.id = log.job_id
WHERE log.state = 'intent' AND (job.id IS NULL OR job.status IN ('completed', 'failed', 'cancelled'))
LIMIT 1;
