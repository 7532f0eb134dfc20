-- name: of_job
SELECT files_seen + directories_seen, total_paths, added_count, removed_count, error_count, error_message
FROM scan_sessions
WHERE job_id = :job_id ORDER BY id DESC LIMIT 1;

-- name: recent
SELECT job.id, job.status, coalesce(job.finished_at, job.created_at), coalesce(job.error_code, session.error_code),
       coalesce(job.error_message, session.error_message), coalesce(session.added_count, 0), coalesce(session.changed_count, 0),
       coalesce(session.moved_count, 0), coalesce(session.removed_count, 0)
FROM jobs AS job
LEFT JOIN scan_sessions AS session ON session.id = (SELECT max(id) FROM scan_sessions WHERE job_id = job.id)
WHERE job.library_id = :library_id AND job.kind = 'scan' AND job.status IN ('completed', 'failed', 'cancelled')
ORDER BY job.created_at DESC, job.id DESC LIMIT :limit;

-- name: has_abandoned
SELECT 1 AS found FROM scan_sessions WHERE {abandoned} LIMIT 1;

-- name: end_abandoned
UPDATE scan_sessions SET status = 'failed', error_code = :code, error_message = :message, finished_at = :now
WHERE {abandoned};
