-- Downloaders that forget what is filed once they are done seeding it, and when they did.
ALTER TABLE service_modules ADD COLUMN tidies INTEGER NOT NULL DEFAULT 0;
ALTER TABLE downloads ADD COLUMN tidied_at INTEGER;

-- The file has its place in the library already, and only the name of the source goes.
ALTER TABLE placements ADD COLUMN is_placed INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER tr_placements_policy_update;
CREATE TRIGGER tr_placements_policy_update
    BEFORE UPDATE OF id, download_id, inspection_id, library_id, mode, fallbacks, source_root, source_path, size_bytes,
    source_mtime_ns, target_path, content, reserve_bytes, noted_at, created_at, replaces_path, replaces_size_bytes,
    replaces_mtime_ns, trash_id, named_by, renaming_id, is_placed ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;
