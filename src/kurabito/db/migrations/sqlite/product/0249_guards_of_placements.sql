-- Files on their way, guarded as the other leased tables are: see the guards of the protocol.

CREATE TRIGGER tr_inspections_policy_insert BEFORE INSERT ON inspections
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_inspections_policy_delete BEFORE DELETE ON inspections
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_placements_policy_insert BEFORE INSERT ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_placements_policy_delete BEFORE DELETE ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_inspections_policy_update BEFORE UPDATE OF id, kind, download_id, folder, paths, planned_at, created_at ON inspections
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_placements_policy_update 
    BEFORE UPDATE OF id, download_id, inspection_id, library_id, mode, fallbacks, source_root, source_path, size_bytes,
    source_mtime_ns, target_path, content, reserve_bytes, noted_at, created_at ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_inspected_files_policy_update BEFORE UPDATE ON inspected_files
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_inspections_moves BEFORE UPDATE ON inspections
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed', 'pending'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL AND new.lost_leases = old.lost_leases)
    OR (old.status = 'running' AND new.status IN ('pending', 'failed') AND new.worker_id IS NULL
        AND (old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_inspections_claims BEFORE UPDATE OF worker_id ON inspections
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_placements_moves BEFORE UPDATE ON placements
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed', 'pending'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL AND new.lost_leases = old.lost_leases)
    OR (old.status = 'running' AND new.status IN ('pending', 'failed') AND new.worker_id IS NULL
        AND (old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_placements_claims BEFORE UPDATE OF worker_id ON placements
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;
