-- What is to be removed, decided before anything is touched. A data plane reads it and can change none of it.
CREATE TABLE deletion_plans (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    mode        TEXT    NOT NULL CHECK (mode IN ('trash', 'hardlink', 'reflink')),
    rules       TEXT    NOT NULL,
    group_count INTEGER NOT NULL,
    file_count  INTEGER NOT NULL,
    freed_bytes INTEGER NOT NULL,
    is_complete INTEGER NOT NULL CHECK (is_complete IN (0, 1)),
    created_at  INTEGER NOT NULL,
    applied_at  INTEGER,
    job_id      TEXT
);

CREATE TABLE deletion_steps (
    plan_id         INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    file_id         INTEGER NOT NULL,
    library_id      INTEGER NOT NULL,
    relative_path   TEXT    NOT NULL,
    size_bytes      INTEGER NOT NULL,
    mtime_ns        INTEGER NOT NULL,
    hash_algorithm  TEXT    NOT NULL CHECK (hash_algorithm IN ('blake3', 'sha256')),
    content_hash    BLOB    NOT NULL,
    kept_file_id    INTEGER NOT NULL,
    kept_library_id INTEGER NOT NULL,
    kept_path       TEXT    NOT NULL,
    kept_mtime_ns   INTEGER NOT NULL,
    reason          TEXT    NOT NULL,
    PRIMARY KEY (plan_id, position)
) WITHOUT ROWID;

CREATE UNIQUE INDEX ix_deletion_steps_file ON deletion_steps (plan_id, file_id);

-- What a data plane is about to do to a file, and what became of it.
CREATE TABLE deletion_log (
    id              TEXT    NOT NULL PRIMARY KEY,
    job_id          TEXT    NOT NULL,
    plan_id         INTEGER,
    position        INTEGER NOT NULL,
    action          TEXT    NOT NULL CHECK (action IN ('trash', 'hardlink', 'reflink', 'restore', 'purge')),
    state           TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'refused', 'checked')),
    library_id      INTEGER NOT NULL,
    relative_path   TEXT    NOT NULL,
    kept_library_id INTEGER,
    kept_path       TEXT,
    trash_path      TEXT,
    error_code      TEXT,
    error_message   TEXT,
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER
);

CREATE UNIQUE INDEX ix_deletion_log_step ON deletion_log (job_id, position);
CREATE INDEX ix_deletion_log_intent ON deletion_log (library_id, relative_path) WHERE state = 'intent';
CREATE INDEX ix_deletion_log_kept ON deletion_log (kept_library_id, kept_path) WHERE state = 'intent';

-- What was moved to the trash. An entry has the id of the step that moved it.
CREATE TABLE trash_entries (
    id             TEXT    NOT NULL PRIMARY KEY,
    file_id        INTEGER NOT NULL,
    library_id     INTEGER NOT NULL,
    relative_path  TEXT    NOT NULL,
    trash_path     TEXT    NOT NULL,
    size_bytes     INTEGER NOT NULL,
    hash_algorithm TEXT    NOT NULL CHECK (hash_algorithm IN ('blake3', 'sha256')),
    content_hash   BLOB    NOT NULL,
    trashed_at     INTEGER NOT NULL,
    left_as        TEXT CHECK (left_as IN ('restored', 'purged')),
    left_at        INTEGER
);

CREATE INDEX ix_trash_entries_held ON trash_entries (trashed_at, id) WHERE left_at IS NULL;
