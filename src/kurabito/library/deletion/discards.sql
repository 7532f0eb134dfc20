-- name: files
SELECT id, library_id, relative_path, size_bytes, mtime_ns FROM library_files
WHERE id {among ids} AND is_missing = 0 ORDER BY id;

-- name: job
SELECT status, total_items FROM jobs WHERE id = :id AND kind = 'delete' AND payload LIKE :ordered;

-- name: entries
SELECT entry.id FROM deletion_log AS log JOIN trash_entries AS entry ON entry.id = log.id
WHERE log.job_id = :id AND log.state = 'done' AND entry.left_at IS NULL ORDER BY log.position;

-- name: refusals
SELECT relative_path, error_code, error_message FROM deletion_log WHERE job_id = :id AND state = 'refused' ORDER BY position;
