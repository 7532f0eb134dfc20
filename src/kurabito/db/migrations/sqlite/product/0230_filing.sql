-- Folders that the control plane wants to know the files of; a data plane looks into them.
CREATE TABLE inspections (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind                TEXT    NOT NULL,
    download_id         INTEGER REFERENCES downloads (id) ON DELETE CASCADE,
    folder              TEXT    NOT NULL,
    paths               TEXT,
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    tries               INTEGER NOT NULL DEFAULT 0,
    retry_after         INTEGER,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    error_code          TEXT,
    error_facts         TEXT,
    file_count          INTEGER,
    total_bytes         INTEGER,
    planned_at          INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
);

CREATE UNIQUE INDEX ux_inspections_download ON inspections (download_id);
CREATE INDEX ix_inspections_waiting ON inspections (id) WHERE status = 'pending';
CREATE INDEX ix_inspections_lease ON inspections (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_inspections_unplanned ON inspections (id) WHERE status = 'completed' AND planned_at IS NULL;

CREATE TABLE inspected_files (
    inspection_id INTEGER NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    relative_path TEXT    NOT NULL,
    size_bytes    INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    inode         INTEGER NOT NULL,
    device        INTEGER NOT NULL,
    PRIMARY KEY (inspection_id, position)
) WITHOUT ROWID;

-- Files on their way into a library. The control plane decides which file goes where, a data plane puts it there.
CREATE TABLE placements (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    download_id         INTEGER REFERENCES downloads (id) ON DELETE SET NULL,
    inspection_id       INTEGER REFERENCES inspections (id) ON DELETE SET NULL,
    library_id          INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    mode                TEXT    NOT NULL CHECK (mode IN ('link', 'reflink', 'copy', 'move', 'rename', 'write')),
    fallbacks           TEXT    NOT NULL DEFAULT '[]',
    source_root         TEXT,
    source_path         TEXT,
    size_bytes          INTEGER NOT NULL,
    source_mtime_ns     INTEGER,
    target_path         TEXT    NOT NULL,
    content             BLOB,
    reserve_bytes       INTEGER NOT NULL DEFAULT 0,
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    tries               INTEGER NOT NULL DEFAULT 0,
    retry_after         INTEGER,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    error_code          TEXT,
    error_facts         TEXT,
    method              TEXT CHECK (method IN ('link', 'reflink', 'copy', 'move', 'rename', 'write', 'found')),
    placed_device       INTEGER,
    placed_inode        INTEGER,
    placed_mtime_ns     INTEGER,
    content_hash        BLOB,
    noted_at            INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
);

CREATE INDEX ix_placements_waiting ON placements (id) WHERE status = 'pending';
CREATE INDEX ix_placements_lease ON placements (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_placements_unnoted ON placements (id) WHERE status = 'completed' AND noted_at IS NULL;
CREATE INDEX ix_placements_download ON placements (download_id);
CREATE INDEX ix_placements_inspection ON placements (inspection_id);
CREATE INDEX ix_placements_target ON placements (library_id, target_path);

-- What was complete before there was filing stays where its keeper knows it to be.
INSERT INTO inspections (kind, download_id, folder, status, created_at, updated_at, finished_at)
SELECT 'arrival', id, '', 'cancelled', updated_at, updated_at, updated_at FROM downloads WHERE status = 'completed';
