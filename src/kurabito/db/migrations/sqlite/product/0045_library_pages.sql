-- What the pages read, so that each costs the same however much there is.

-- Groups by the room that keeping one copy would free.
CREATE INDEX ix_duplicate_groups_waste
    ON duplicate_groups ((total_size_bytes / file_count * (copies - 1)) DESC, hash_algorithm, content_hash) WHERE copies > 1;

-- The last scans of a library.
CREATE INDEX ix_jobs_scans ON jobs (library_id, created_at, id) WHERE kind = 'scan';
CREATE INDEX ix_scan_sessions_library ON scan_sessions (library_id, id);

-- What became of attempts to put a file back.
CREATE INDEX ix_deletion_log_restores ON deletion_log (library_id, relative_path, created_at) WHERE action = 'restore';
