-- name: of_job
SELECT files_seen + directories_seen, total_paths, added_count, removed_count FROM scan_sessions
WHERE job_id = :job_id ORDER BY id DESC LIMIT 1;
