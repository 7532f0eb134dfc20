-- name: root_of
SELECT root_path FROM library_roots WHERE id = :id;

-- name: may_remove
SELECT 1 AS allowed WHERE {may_remove};

-- name: plan
SELECT mode, file_count FROM deletion_plans WHERE id = :plan_id;

-- name: next_step
SELECT step.position, step.file_id, step.library_id, step.relative_path, step.size_bytes, step.mtime_ns,
       step.hash_algorithm, step.content_hash, step.kept_file_id, step.kept_library_id, step.kept_path, step.kept_mtime_ns,
       step.reason,
       CASE WHEN {stale} THEN 1 ELSE 0 END, CASE WHEN {kept_stale} THEN 1 ELSE 0 END,
       CASE WHEN EXISTS (
           SELECT 1 FROM deletion_steps AS other
           WHERE other.plan_id = step.plan_id AND other.file_id = step.kept_file_id
       ) THEN 1 ELSE 0 END,
       log.id, log.trash_path
FROM deletion_steps AS step
LEFT JOIN library_files AS file ON file.id = step.file_id
LEFT JOIN library_files AS kept ON kept.id = step.kept_file_id
LEFT JOIN deletion_log AS log ON log.job_id = :job_id AND log.position = step.position
WHERE step.plan_id = :plan_id AND step.position > :after AND (log.state IS NULL OR log.state = 'intent')
ORDER BY step.position LIMIT 1;

-- name: settled_steps
SELECT count(*) FROM deletion_log WHERE job_id = :job_id AND state <> 'intent';

-- name: contested
-- Another job removes what this one keeps, keeps what it removes, or has the same file in hand.
SELECT log.job_id FROM deletion_log AS log
WHERE log.state = 'intent' AND log.job_id <> :job_id AND (
    (log.library_id = :library_id AND log.relative_path = :relative_path)
    OR (log.library_id = :kept_library_id AND log.relative_path = :kept_path)
    OR (log.kept_library_id = :library_id AND log.kept_path = :relative_path)
)
LIMIT 1;

-- name: intend
INSERT INTO deletion_log (id, job_id, plan_id, position, action, state, library_id, relative_path, kept_library_id, kept_path,
                          trash_path, created_at)
VALUES (:id, :job_id, :plan_id, :position, :action, 'intent', :library_id, :relative_path, :kept_library_id, :kept_path,
        :trash_path, :now);

-- name: note
INSERT INTO deletion_log (id, job_id, plan_id, position, action, state, library_id, relative_path, kept_library_id, kept_path,
                          error_code, error_message, created_at, finished_at)
VALUES (:id, :job_id, :plan_id, :position, :action, :state, :library_id, :relative_path, :kept_library_id, :kept_path,
        :error_code, :error_message, :now, :now);

-- name: settle
UPDATE deletion_log SET state = :state, error_code = :error_code, error_message = :error_message, finished_at = :now
WHERE id = :id AND state = 'intent';

-- name: file_is_gone
UPDATE library_files SET is_missing = 1, updated_at = :now
WHERE id = :file_id AND library_id = :library_id AND relative_path = :relative_path;

-- name: file_is_back
-- Another file may have been at its path meanwhile, and the row tells of that one; then the next scan corrects the row.
UPDATE library_files SET is_missing = 0, updated_at = :now
WHERE id = :file_id AND library_id = :library_id AND relative_path = :relative_path AND size_bytes = :size_bytes
  AND mtime_ns = :mtime_ns
  AND (content_hash IS NULL OR (hash_algorithm = :hash_algorithm AND content_hash = :content_hash));

-- name: add_file
-- The file is not known when its library was removed and added again while it was in the trash.
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, needs_hash, created_at, updated_at)
SELECT :library_id, :relative_path, :size_bytes, :mtime_ns, :device, :inode, 1, :now, :now
WHERE NOT EXISTS (SELECT 1 FROM library_files WHERE library_id = :library_id AND relative_path = :relative_path);

-- name: file_was_not_gone
-- A scan that came while it was in the trash took it for missing.
UPDATE library_files SET is_missing = 0, updated_at = :now
WHERE library_id = :library_id AND relative_path = :relative_path AND is_missing = 1 AND size_bytes = :size_bytes
  AND mtime_ns = :mtime_ns AND device = :device AND inode = :inode;

-- name: unread_of_size
SELECT id FROM library_files
WHERE size_bytes = :size_bytes AND is_missing = 0 AND needs_hash = 0 AND content_hash IS NULL;

-- name: want_hash
UPDATE library_files SET needs_hash = 1, updated_at = :now WHERE id = :id;

-- name: file_is_linked
UPDATE library_files
SET device = :device, inode = :inode, mtime_ns = :mtime_ns, hashed_mtime_ns = :mtime_ns, updated_at = :now,
    shared_inode = (SELECT kept.shared_inode FROM library_files AS kept WHERE kept.id = :kept_id)
WHERE id = :file_id AND library_id = :library_id AND relative_path = :relative_path;

-- name: blocks_are_shared
-- Whatever the kept file shares its blocks with, the other one does now.
UPDATE library_files
SET shared_inode = (SELECT coalesce(kept.shared_inode, kept.inode) FROM library_files AS kept WHERE kept.id = :kept_id),
    updated_at = :now
WHERE id = :file_id;

-- name: read_again
UPDATE library_files
SET needs_hash = 1, edge_hash = NULL, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL,
    hashed_mtime_ns = NULL, hashed_at = NULL, hash_error_count = 0, hash_last_error = NULL, hash_last_error_at = NULL,
    hash_retry_after = NULL, shared_inode = NULL, updated_at = :now
WHERE id = :id;

-- name: add_entry
INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, trashed_at)
SELECT log.id, step.file_id, step.library_id, step.relative_path, log.trash_path, step.size_bytes, step.hash_algorithm,
       step.content_hash, :now
FROM deletion_log AS log JOIN deletion_steps AS step ON step.plan_id = log.plan_id AND step.position = log.position
WHERE log.id = :id;

-- name: begun_at
SELECT id, state, coalesce(trash_path, '') FROM deletion_log WHERE job_id = :job_id AND position = :position;

-- name: file_to_discard
SELECT library.algorithm,
       CASE WHEN file.needs_hash = 0 AND file.hash_algorithm = library.algorithm AND file.hashed_size_bytes = file.size_bytes
                 AND file.hashed_mtime_ns = file.mtime_ns THEN file.content_hash END
FROM library_files AS file JOIN library_roots AS library ON library.id = file.library_id
WHERE file.id = :file_id AND file.library_id = :library_id AND file.relative_path = :path AND file.is_missing = 0
  AND file.size_bytes = :size_bytes AND file.mtime_ns = :mtime_ns;

-- name: add_discarded
INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, trashed_at,
                           is_discarded)
SELECT log.id, :file_id, log.library_id, log.relative_path, log.trash_path, :size_bytes, :hash_algorithm, :content_hash, :now, 1
FROM deletion_log AS log WHERE log.id = :id;

-- name: discarded_is_gone
UPDATE library_files SET is_missing = 1, updated_at = :now
WHERE id = :file_id AND EXISTS (
    SELECT 1 FROM deletion_log AS log
    WHERE log.id = :id AND log.library_id = library_files.library_id AND log.relative_path = library_files.relative_path);

-- name: entry
SELECT entry.id, entry.file_id, entry.library_id, entry.relative_path, entry.trash_path, entry.size_bytes,
       entry.hash_algorithm, entry.content_hash, entry.successor_path, entry.is_discarded, CASE WHEN log.state = 'intent' THEN log.id END,
       CASE WHEN log.state = 'refused' THEN log.error_code END, CASE WHEN log.state = 'refused' THEN log.error_message END
FROM trash_entries AS entry
LEFT JOIN deletion_log AS log ON log.job_id = :job_id AND log.position = :position
WHERE entry.id = :id AND entry.left_at IS NULL;

-- name: entry_left
UPDATE trash_entries SET left_as = :left_as, left_at = :now WHERE id = :id AND left_at IS NULL;

-- name: other_copies
SELECT library_id, relative_path FROM library_files
WHERE hash_algorithm = :hash_algorithm AND content_hash = :content_hash AND is_missing = 0 AND needs_hash = 0
  AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
ORDER BY id LIMIT 10;

-- name: abandoned
-- What was begun by jobs that are not taken up again. While another delete job runs it is left alone: that one may be
-- seeing to it.
SELECT log.id, log.action, log.library_id, log.relative_path, log.kept_library_id, log.kept_path, log.trash_path
FROM deletion_log AS log LEFT JOIN jobs AS job ON job.id = log.job_id
WHERE log.state = 'intent' AND (job.id IS NULL OR job.status IN ('completed', 'failed', 'cancelled'))
  AND NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other.kind = 'delete' AND other.id <> :job_id)
ORDER BY log.created_at, log.id;
