-- Pictures of files. The control plane admits a row with everything that decides what is drawn and where; a data plane draws it.
CREATE TABLE thumbnails (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    thumb_key           TEXT    NOT NULL UNIQUE,
    file_id             INTEGER NOT NULL,
    group_key           TEXT    NOT NULL,
    media_type          TEXT    NOT NULL CHECK (media_type IN ('image', 'video')),
    format              TEXT    NOT NULL CHECK (format IN ('jpeg', 'webp')),
    max_dimension       INTEGER NOT NULL CHECK (max_dimension BETWEEN 16 AND 4096),
    source_size_bytes   INTEGER NOT NULL,
    source_mtime_ns     INTEGER NOT NULL,
    output_path         TEXT    NOT NULL UNIQUE,
    status              TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'ready', 'failed')),
    width               INTEGER,
    height              INTEGER,
    bytes_size          INTEGER,
    error_code          TEXT,
    error_message       TEXT,
    error_count         INTEGER NOT NULL DEFAULT 0,
    retry_after         INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
);

CREATE INDEX ix_thumbnails_waiting ON thumbnails (media_type, created_at, id) WHERE status = 'pending';
CREATE INDEX ix_thumbnails_lease ON thumbnails (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_thumbnails_retry ON thumbnails (retry_after, id) WHERE status = 'failed';
CREATE INDEX ix_thumbnails_group ON thumbnails (group_key, id);
CREATE INDEX ix_thumbnails_file ON thumbnails (file_id);

-- What is asked for or being drawn stays, whoever deletes.
CREATE TRIGGER tr_thumbnails_kept BEFORE DELETE ON thumbnails WHEN old.status IN ('pending', 'running')
BEGIN
    SELECT RAISE(IGNORE);
END;

-- The pictures of a group that are to be removed after a while.
CREATE TABLE thumbnail_cleanup_jobs (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    group_key           TEXT    NOT NULL,
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    execute_after       INTEGER NOT NULL,
    error_code          TEXT,
    error_message       TEXT,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    finished_at         INTEGER
);

CREATE UNIQUE INDEX ux_thumbnail_cleanup_jobs_active ON thumbnail_cleanup_jobs (group_key)
    WHERE status IN ('pending', 'running');
CREATE INDEX ix_thumbnail_cleanup_jobs_due ON thumbnail_cleanup_jobs (execute_after, id) WHERE status = 'pending';
CREATE INDEX ix_thumbnail_cleanup_jobs_lease ON thumbnail_cleanup_jobs (lease_expires_at) WHERE status = 'running';

-- When the next read may begin, for everybody who reads under the same limit. How fast that is, is a setting.
CREATE TABLE io_rate_limits (
    bucket_key           TEXT    NOT NULL PRIMARY KEY,
    next_available_at_ms INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL
);
