-- Files that their keeper deleted: no copy of them has to be there when they are purged.
ALTER TABLE trash_entries ADD COLUMN is_discarded INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER tr_trash_entries_policy_update;
CREATE TRIGGER tr_trash_entries_policy_update
    BEFORE UPDATE OF id, file_id, size_bytes, hash_algorithm, content_hash, trashed_at, successor_path, is_discarded ON trash_entries
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;
