-- Checkpoints that were asked for: SQLite's log is moved into its file. The control plane asks, a data plane does it.
CREATE TABLE wal_maintenance_jobs (
    id                    INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    requested_mode        TEXT    NOT NULL CHECK (requested_mode IN ('passive', 'restart', 'truncate')),
    reason                TEXT    NOT NULL,
    status                TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'retryable', 'completed', 'failed')),
    execute_after         INTEGER NOT NULL,
    retry_count           INTEGER NOT NULL DEFAULT 0,
    retry_after           INTEGER,
    checkpoint_busy       INTEGER,
    checkpoint_log_frames INTEGER,
    checkpointed_frames   INTEGER,
    error_code            TEXT,
    error_message         TEXT,
    worker_id             TEXT,
    worker_heartbeat_at   INTEGER,
    lease_expires_at      INTEGER,
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    started_at            INTEGER,
    finished_at           INTEGER
);

-- A second one would find nothing to do that the first has not done.
CREATE UNIQUE INDEX ux_wal_maintenance_jobs_active ON wal_maintenance_jobs ((1))
    WHERE status IN ('pending', 'running', 'retryable');
