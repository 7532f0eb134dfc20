-- What no program may write, and what only the control plane may. A data plane in any language opens this file, and
-- SQLite has no users: so triggers hold it to the protocol. Each refusal begins with the number of its rule.
--
-- A connection says that it is the control plane by what it answers: `sqlite_compileoption_used` is a function of
-- SQLite, which says 0 to every word that it does not know, and the control plane's connections have one of their own
-- that knows the word KURABITO_CONTROL_PLANE. The row is looked at first, so that a legal write asks nothing.

-- Forms: they hold for every program.

-- A scan inserts millions of rows, so that what is looked at is in the trigger that is there already: one more would cost as
-- much as all of its questions. Nearly no path passes the first of them, which is one function. A hash of another length may
-- come from a database that is taken over; it is as good as none, and the row is worth more.
DROP TRIGGER tr_library_files_inserted;
CREATE TRIGGER tr_library_files_inserted AFTER INSERT ON library_files
WHEN new.content_hash IS NOT NULL OR new.hash_algorithm IS NOT NULL OR new.edge_hash IS NOT NULL OR new.size_bytes < 0
    OR new.updated_at > 99999999999999999
    OR (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'))
BEGIN
    SELECT RAISE(ABORT, 'PATH-1: relative_path is no path of a file below its library')
    WHERE (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'));
    SELECT RAISE(ABORT, 'HASH-1: a hash has 32 bytes and names its algorithm')
    WHERE ((new.content_hash IS NULL) <> (new.hash_algorithm IS NULL)
    OR new.content_hash IS NOT NULL AND length(new.content_hash) <> 32
    OR new.edge_hash IS NOT NULL AND length(new.edge_hash) <> 32)
    AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0;
    SELECT RAISE(ABORT, 'VALUE-2: a size is not negative') WHERE new.size_bytes < 0;
    SELECT RAISE(ABORT, 'VALUE-1: a time is in microseconds since 1970') WHERE new.updated_at > 99999999999999999;
    INSERT INTO duplicate_groups
    SELECT new.hash_algorithm, new.content_hash, 1, new.size_bytes, 1
    WHERE new.is_missing = 0 AND new.needs_hash = 0 AND new.hash_algorithm IS NOT NULL AND new.content_hash IS NOT NULL
    ON CONFLICT DO UPDATE SET
        file_count = file_count + 1,
        total_size_bytes = total_size_bytes + new.size_bytes,
        copies = copies + NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = new.hash_algorithm AND other.content_hash = new.content_hash
              AND other.device = new.device AND other.inode = coalesce(new.shared_inode, new.inode) AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_path BEFORE UPDATE OF relative_path ON library_files
WHEN (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'))
BEGIN
    SELECT RAISE(ABORT, 'PATH-1: relative_path is no path of a file below its library');
END;

CREATE TRIGGER tr_library_files_hash BEFORE UPDATE OF content_hash, hash_algorithm, edge_hash ON library_files
WHEN (new.content_hash IS NULL) <> (new.hash_algorithm IS NULL)
    OR new.content_hash IS NOT NULL AND length(new.content_hash) <> 32
    OR new.edge_hash IS NOT NULL AND length(new.edge_hash) <> 32
    OR new.hash_algorithm <> (SELECT algorithm FROM library_roots WHERE id = new.library_id)
        AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'HASH-1: a hash has 32 bytes and names its algorithm')
    WHERE (new.content_hash IS NULL) <> (new.hash_algorithm IS NULL)
    OR new.content_hash IS NOT NULL AND length(new.content_hash) <> 32
    OR new.edge_hash IS NOT NULL AND length(new.edge_hash) <> 32;
    SELECT RAISE(ABORT, 'HASH-2: a file is hashed with the algorithm of its library');
END;

CREATE TRIGGER tr_library_files_size BEFORE UPDATE OF size_bytes ON library_files
WHEN new.size_bytes < 0
BEGIN
    SELECT RAISE(ABORT, 'VALUE-2: a size is not negative');
END;

CREATE TRIGGER tr_trash_entries_form BEFORE INSERT ON trash_entries
WHEN (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'))
    OR length(new.content_hash) <> 32 OR new.size_bytes < 0 OR NOT instr('/' || new.trash_path, '/.kurabito-trash/')
BEGIN
    SELECT RAISE(ABORT, 'PATH-1: relative_path is no path of a file below its library')
    WHERE (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'));
    SELECT RAISE(ABORT, 'HASH-1: a hash has 32 bytes and names its algorithm')
    WHERE length(new.content_hash) <> 32;
    SELECT RAISE(ABORT, 'VALUE-2: a size is not negative')
    WHERE new.size_bytes < 0;
    SELECT RAISE(ABORT, 'TRASH-1: trash_path does not lie in a trash folder');
END;

CREATE TRIGGER tr_jobs_form BEFORE UPDATE OF lease_expires_at, updated_at, processed_items, progress ON jobs
WHEN new.progress NOT BETWEEN 0 AND 1 OR new.processed_items < 0
    OR new.updated_at > 99999999999999999 OR new.lease_expires_at > 99999999999999999
BEGIN
    SELECT RAISE(ABORT, 'PROGRESS-1: progress is from 0 to 1, and no count is negative')
    WHERE new.progress NOT BETWEEN 0 AND 1 OR new.processed_items < 0;
    SELECT RAISE(ABORT, 'VALUE-1: a time is in microseconds since 1970');
END;

-- Policy: only the control plane makes, changes and removes these rows.

CREATE TRIGGER tr_protocol_version_policy_insert BEFORE INSERT ON protocol_version
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_protocol_version_policy_update BEFORE UPDATE ON protocol_version
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_protocol_version_policy_delete BEFORE DELETE ON protocol_version
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_library_roots_policy_insert BEFORE INSERT ON library_roots
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_library_roots_policy_update BEFORE UPDATE ON library_roots
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_library_roots_policy_delete BEFORE DELETE ON library_roots
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_policy_policy_insert BEFORE INSERT ON deletion_policy
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_policy_policy_update BEFORE UPDATE ON deletion_policy
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_policy_policy_delete BEFORE DELETE ON deletion_policy
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_plans_policy_insert BEFORE INSERT ON deletion_plans
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_plans_policy_update BEFORE UPDATE ON deletion_plans
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_plans_policy_delete BEFORE DELETE ON deletion_plans
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_steps_policy_insert BEFORE INSERT ON deletion_steps
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_steps_policy_update BEFORE UPDATE ON deletion_steps
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_steps_policy_delete BEFORE DELETE ON deletion_steps
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_jobs_policy_insert BEFORE INSERT ON jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_thumbnails_policy_insert BEFORE INSERT ON thumbnails
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_policy_insert BEFORE INSERT ON thumbnail_cleanup_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_policy_insert BEFORE INSERT ON wal_maintenance_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_jobs_policy_delete BEFORE DELETE ON jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_policy_delete BEFORE DELETE ON thumbnail_cleanup_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_policy_delete BEFORE DELETE ON wal_maintenance_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_scan_sessions_policy_delete BEFORE DELETE ON scan_sessions
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_deletion_log_policy_delete BEFORE DELETE ON deletion_log
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_trash_entries_policy_delete BEFORE DELETE ON trash_entries
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_io_rate_limits_policy_delete BEFORE DELETE ON io_rate_limits
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_jobs_policy_update
    BEFORE UPDATE OF id, kind, library_id, task_id, dry_run, payload, total_items, lost_leases, created_at ON jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_thumbnails_policy_update
    BEFORE UPDATE OF id, thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes,
    source_mtime_ns, output_path, created_at ON thumbnails
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_policy_update
    BEFORE UPDATE OF id, group_key, execute_after, created_at ON thumbnail_cleanup_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_policy_update
    BEFORE UPDATE OF id, requested_mode, reason, execute_after, created_at ON wal_maintenance_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_scan_sessions_policy_update BEFORE UPDATE OF id, job_id, library_id, started_at ON scan_sessions
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_scan_findings_policy_update BEFORE UPDATE OF session_id, finding, file_id ON scan_findings
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_library_files_policy_update BEFORE UPDATE OF id, library_id, created_at ON library_files
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_deletion_log_policy_update
    BEFORE UPDATE OF id, job_id, plan_id, position, action, library_id, relative_path, kept_library_id, kept_path,
    trash_path, created_at ON deletion_log
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_trash_entries_policy_update
    BEFORE UPDATE OF id, file_id, size_bytes, hash_algorithm, content_hash, trashed_at ON trash_entries
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_data_planes_policy_update BEFORE UPDATE OF name, started_at ON data_planes
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_io_rate_limits_policy_update BEFORE UPDATE OF bucket_key, created_at ON io_rate_limits
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

-- Moves of leased rows: who may take a row, keep it, end it, and take it from another.

CREATE TRIGGER tr_jobs_moves BEFORE UPDATE ON jobs
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed'))
    OR (old.status = 'running' AND new.status = 'retryable' AND new.worker_id IS NULL
        AND (new.error_code IS NULL OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_jobs_claims BEFORE UPDATE OF worker_id ON jobs
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_thumbnails_moves BEFORE UPDATE ON thumbnails
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'ready', 'failed'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL
        AND (new.error_count = old.error_count OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_thumbnails_claims BEFORE UPDATE OF worker_id ON thumbnails
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_moves BEFORE UPDATE ON thumbnail_cleanup_jobs
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL
        AND (new.error_code IS old.error_code OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_claims BEFORE UPDATE OF worker_id ON thumbnail_cleanup_jobs
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_moves BEFORE UPDATE ON wal_maintenance_jobs
WHEN NOT coalesce(
    (old.status IN ('pending', 'retryable') AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed', 'retryable'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL
        AND (new.retry_count = old.retry_count OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at))
    OR (old.status = 'running' AND new.status = 'retryable' AND new.worker_id IS NULL
        AND (old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_claims BEFORE UPDATE OF worker_id ON wal_maintenance_jobs
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_jobs_allowed BEFORE UPDATE OF status ON jobs
WHEN old.status = 'pending' AND new.status = 'running' AND new.kind = 'delete' AND new.dry_run = 0
  AND new.payload NOT LIKE '{"restore"%' AND NOT EXISTS (SELECT 1 FROM deletion_policy WHERE allow_delete = 1)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'JOB-1: nothing is removed while the keeper does not allow it');
END;
