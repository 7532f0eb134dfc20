-- What is in films and sound: how long they are, and which tracks they have. A data plane reads it, a few files at a time.
CREATE TABLE inspected_media (
    inspection_id INTEGER NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    relative_path TEXT    NOT NULL,
    size_bytes    INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    facts         TEXT,
    error_code    TEXT,
    PRIMARY KEY (inspection_id, relative_path)
) WITHOUT ROWID;

CREATE TRIGGER tr_inspected_media_policy_update BEFORE UPDATE ON inspected_media
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

-- The same as the control plane knows it, for each file as it was then.
CREATE TABLE media_facts (
    file_id    INTEGER NOT NULL PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    facts      TEXT,
    error_code TEXT,
    read_at    INTEGER NOT NULL
);

CREATE INDEX ix_inspections_media ON inspections (id) WHERE kind = 'media';
