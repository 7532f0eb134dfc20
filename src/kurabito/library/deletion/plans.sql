-- name: add_plan
INSERT INTO deletion_plans (mode, rules, group_count, file_count, freed_bytes, is_complete, created_at)
VALUES (:mode, :rules, :group_count, :file_count, :freed_bytes, :is_complete, :now)
RETURNING id;

-- name: add_steps
INSERT INTO deletion_steps (plan_id, position, file_id, library_id, relative_path, size_bytes, mtime_ns, hash_algorithm,
                            content_hash, kept_file_id, kept_library_id, kept_path, kept_mtime_ns, reason)
SELECT :plan_id, chosen.position, file.id, file.library_id, file.relative_path, file.size_bytes, file.mtime_ns,
       file.hash_algorithm, file.content_hash, kept.id, kept.library_id, kept.relative_path, kept.mtime_ns, chosen.reason
FROM (
    SELECT CAST(given.value ->> 0 AS bigint) AS position, CAST(given.value ->> 1 AS bigint) AS file_id,
           CAST(given.value ->> 2 AS bigint) AS kept_id, given.value ->> 3 AS reason
    FROM {given}
) AS chosen
JOIN hashed_files AS file ON file.id = chosen.file_id
JOIN hashed_files AS kept ON kept.id = chosen.kept_id
    AND kept.hash_algorithm = file.hash_algorithm AND kept.content_hash = file.content_hash;

-- name: plan
SELECT {plan}
FROM deletion_plans AS plan LEFT JOIN jobs AS job ON job.id = plan.job_id
WHERE plan.id = :id;

-- name: recent
SELECT id FROM deletion_plans ORDER BY id DESC LIMIT :limit;

-- name: outcomes
SELECT state, count(*) FROM deletion_log WHERE job_id = :job_id GROUP BY state;

-- name: steps
SELECT step.position, step.file_id, step.library_id, step.relative_path, step.size_bytes, step.kept_file_id,
       step.kept_library_id, step.kept_path, step.reason, CASE WHEN {stale} OR {kept_stale} THEN 1 ELSE 0 END,
       log.state, log.error_code, log.error_message
FROM deletion_steps AS step
JOIN deletion_plans AS plan ON plan.id = step.plan_id
LEFT JOIN library_files AS file ON file.id = step.file_id
LEFT JOIN library_files AS kept ON kept.id = step.kept_file_id
LEFT JOIN deletion_log AS log ON log.job_id = plan.job_id AND log.position = step.position
WHERE step.plan_id = :id AND step.position > :after
ORDER BY step.position LIMIT :limit;

-- name: note_job
UPDATE deletion_plans
SET job_id = :job_id, applied_at = CASE WHEN CAST(:dry_run AS integer) = 1 THEN NULL ELSE :now END
WHERE id = :id AND applied_at IS NULL;

-- name: library
SELECT 1 AS known FROM library_roots WHERE id = :id;

-- name: file_below
SELECT 1 AS known FROM library_files
WHERE library_id = :library_id AND relative_path >= :begin AND relative_path < :end AND is_missing = 0 LIMIT 1;
