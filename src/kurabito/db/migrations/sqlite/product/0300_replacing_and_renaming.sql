-- A file that takes the place of another, which goes to the trash under this name; what a file was named by; and the renames of
-- one library that belong together, so that they can be undone together.
CREATE TABLE renamings (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    library_id INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    undoes_id  INTEGER REFERENCES renamings (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX ix_renamings_library ON renamings (library_id, id);

ALTER TABLE placements ADD COLUMN replaces_path TEXT;
ALTER TABLE placements ADD COLUMN replaces_size_bytes INTEGER;
ALTER TABLE placements ADD COLUMN replaces_mtime_ns INTEGER;
ALTER TABLE placements ADD COLUMN trash_id TEXT;
ALTER TABLE placements ADD COLUMN named_by TEXT;
ALTER TABLE placements ADD COLUMN renaming_id INTEGER REFERENCES renamings (id) ON DELETE SET NULL;

CREATE INDEX ix_placements_renaming ON placements (renaming_id) WHERE renaming_id IS NOT NULL;
CREATE INDEX ix_placements_named ON placements (library_id, id) WHERE named_by IS NOT NULL AND status = 'completed';

-- What took the place of a file in the trash; it may go for good while that is there.
ALTER TABLE trash_entries ADD COLUMN successor_path TEXT;

-- Which better releases take the place of files that Kurabito put there.
ALTER TABLE library_roots ADD COLUMN upgrades TEXT NOT NULL DEFAULT 'same_group'
    CHECK (upgrades IN ('none', 'same_group', 'anything'));

-- What a person said; kept, so that it can be taken back.
ALTER TABLE filing_questions ADD COLUMN answer TEXT;
ALTER TABLE filing_questions ADD COLUMN answered_at INTEGER;

DROP TRIGGER tr_placements_policy_update;
CREATE TRIGGER tr_placements_policy_update
    BEFORE UPDATE OF id, download_id, inspection_id, library_id, mode, fallbacks, source_root, source_path, size_bytes,
    source_mtime_ns, target_path, content, reserve_bytes, noted_at, created_at, replaces_path, replaces_size_bytes,
    replaces_mtime_ns, trash_id, named_by, renaming_id ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

DROP TRIGGER tr_trash_entries_policy_update;
CREATE TRIGGER tr_trash_entries_policy_update
    BEFORE UPDATE OF id, file_id, size_bytes, hash_algorithm, content_hash, trashed_at, successor_path ON trash_entries
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;
