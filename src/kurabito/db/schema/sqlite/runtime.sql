-- The runtime's tables on SQLite as they are once every migration was applied: to read, not to run. A test compares them.

-- What is read for every claim stands before what may be large, so that a long payload is not walked through.
CREATE TABLE tasks (
    seq                 INTEGER PRIMARY KEY,
    id                  BLOB    NOT NULL,
    task_type           TEXT    NOT NULL,
    state               TEXT    NOT NULL
        -- Not IN (…): SQLite would build that list anew for every row that is written.
        CHECK (state = 'queued' OR state = 'running' OR state = 'succeeded'
               OR state = 'retry_scheduled' OR state = 'dead' OR state = 'cancelled'),
    priority            INTEGER NOT NULL DEFAULT 0,
    attempts            INTEGER NOT NULL DEFAULT 0,
    max_attempts        INTEGER,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    leased              INTEGER NOT NULL DEFAULT 1,
    next_run_at         INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    progress_done       INTEGER,
    progress_total      INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER,
    unique_key          TEXT,
    content_type        TEXT    NOT NULL,
    payload             BLOB    NOT NULL,
    result              BLOB,
    last_error          TEXT,
    errors              TEXT
);

CREATE UNIQUE INDEX ix_tasks_id ON tasks (id);
-- One active task per key.
CREATE UNIQUE INDEX ix_tasks_unique_key ON tasks (unique_key) WHERE unique_key IS NOT NULL AND finished_at IS NULL;
-- No index begins with the state: SQLite would take it for every claim and sort a million rows.
CREATE INDEX ix_tasks_ready ON tasks (task_type, priority DESC, seq) WHERE state = 'queued';
CREATE INDEX ix_tasks_due ON tasks (next_run_at) WHERE state = 'retry_scheduled';
CREATE INDEX ix_tasks_lease ON tasks (lease_expires_at) WHERE state = 'running';
CREATE INDEX ix_tasks_finished ON tasks (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX ix_tasks_listing ON tasks (task_type, state, seq);

-- One row tells of one move of many tasks: `facts` is a JSON list with an entry for each.
CREATE TABLE task_events (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    at    INTEGER NOT NULL,
    name  TEXT    NOT NULL,
    facts TEXT    NOT NULL
);

CREATE TABLE task_workers (
    name         TEXT    PRIMARY KEY,
    task_types   TEXT    NOT NULL,
    concurrency  INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE task_schedules (
    name      TEXT    PRIMARY KEY,
    last_tick INTEGER NOT NULL
) WITHOUT ROWID;
