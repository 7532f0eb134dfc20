"""Libraries, their files, and the jobs that work on them.

An earlier system kept tables of the same names in the same file: enum values in uppercase, times as ISO text, columns missing.
Such tables are taken over. Each is set aside, made as it is now, filled from the old rows and dropped; columns that we do not
know come along. The four columns about hashes are left to the next migration, which also creates what reads them.
"""

import re
from datetime import UTC, datetime

TABLES = {
    "library_roots": """
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL UNIQUE,
    root_path       TEXT    NOT NULL UNIQUE,
    scan_interval   INTEGER,
    next_scan_at    INTEGER,
    watched         INTEGER NOT NULL DEFAULT 0 CHECK (watched IN (0, 1)),
    algorithm       TEXT    NOT NULL DEFAULT 'blake3' CHECK (algorithm IN ('blake3', 'sha256')),
    hash_policy     TEXT    NOT NULL DEFAULT 'candidates' CHECK (hash_policy IN ('candidates', 'all')),
    ignored         TEXT    NOT NULL DEFAULT '[]',
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    last_scanned_at INTEGER
""",
    "jobs": """
    id                  TEXT    NOT NULL PRIMARY KEY,
    kind                TEXT    NOT NULL CHECK (kind IN ('scan', 'hash', 'delete', 'thumbnail')),
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled', 'retryable')),
    library_id          INTEGER,
    task_id             TEXT,
    dry_run             INTEGER NOT NULL DEFAULT 1 CHECK (dry_run IN (0, 1)),
    payload             TEXT    NOT NULL DEFAULT '{}',
    total_items         INTEGER,
    processed_items     INTEGER NOT NULL DEFAULT 0,
    progress            REAL    NOT NULL DEFAULT 0,
    error_code          TEXT,
    error_message       TEXT,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
""",
    "scan_sessions": """
    id               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    job_id           TEXT,
    library_id       INTEGER,
    status           TEXT    NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'succeeded', 'failed')),
    total_paths      INTEGER,
    files_seen       INTEGER NOT NULL DEFAULT 0,
    directories_seen INTEGER NOT NULL DEFAULT 0,
    bytes_seen       INTEGER NOT NULL DEFAULT 0,
    added_count      INTEGER NOT NULL DEFAULT 0,
    changed_count    INTEGER NOT NULL DEFAULT 0,
    moved_count      INTEGER NOT NULL DEFAULT 0,
    removed_count    INTEGER NOT NULL DEFAULT 0,
    error_count      INTEGER NOT NULL DEFAULT 0,
    resume_after     TEXT,
    error_code       TEXT,
    error_message    TEXT,
    started_at       INTEGER NOT NULL,
    finished_at      INTEGER
""",
    "library_files": """
    id                 INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    library_id         INTEGER NOT NULL,
    relative_path      TEXT    NOT NULL,
    size_bytes         INTEGER NOT NULL,
    mtime_ns           INTEGER NOT NULL,
    inode              INTEGER,
    device             INTEGER,
    edge_hash          BLOB,
    hashed_size_bytes  INTEGER,
    hashed_mtime_ns    INTEGER,
    hashed_at          INTEGER,
    hash_error_count   INTEGER NOT NULL DEFAULT 0,
    hash_last_error    TEXT,
    hash_last_error_at INTEGER,
    hash_retry_after   INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL
""",
}

# Where a later migration adds a column, a table that is taken over may have it already.
LATER = {
    "is_missing": "is_missing INTEGER NOT NULL DEFAULT 0 CHECK (is_missing IN (0, 1))",
    "needs_hash": "needs_hash INTEGER NOT NULL DEFAULT 1 CHECK (needs_hash IN (0, 1))",
    "hash_algorithm": "hash_algorithm TEXT CHECK (hash_algorithm IN ('blake3', 'sha256'))",
    "content_hash": "content_hash BLOB",
}

REST = """
-- One scan or hash at a time, whoever asks.
CREATE UNIQUE INDEX ix_jobs_single_active_scan_hash ON jobs ((1))
    WHERE lower(status) IN ('pending', 'running') AND lower(kind) IN ('scan', 'hash');
CREATE INDEX ix_jobs_created_id ON jobs (created_at, id);
CREATE INDEX ix_jobs_waiting ON jobs (created_at, id) WHERE status = 'pending';
CREATE INDEX ix_jobs_lease ON jobs (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_jobs_retryable ON jobs (created_at, id) WHERE status = 'retryable';
CREATE INDEX ix_jobs_task ON jobs (task_id) WHERE task_id IS NOT NULL;

CREATE INDEX ix_scan_sessions_job ON scan_sessions (job_id);

-- In this order a scan walks, and so it compares what is there with what is known in one pass.
CREATE UNIQUE INDEX ix_library_files_path ON library_files (library_id, relative_path);

-- What a scan found and decides about at its end only: files that were added, and files that were not seen.
CREATE TABLE scan_findings (
    session_id INTEGER NOT NULL,
    finding    TEXT    NOT NULL CHECK (finding IN ('added', 'unseen')),
    file_id    INTEGER NOT NULL,
    PRIMARY KEY (session_id, finding, file_id)
) WITHOUT ROWID;
"""

# The first one stays: running before pending, then the older, then the smaller id.
ONE_AT_A_TIME = """
UPDATE jobs
SET status = 'retryable', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, error_code = 'SUPERSEDED',
    error_message = coalesce(nullif(trim(error_message), ''), 'another scan or hash was under way at the take-over')
WHERE id IN (
    SELECT id FROM jobs WHERE status IN ('pending', 'running') AND kind IN ('scan', 'hash')
    ORDER BY status = 'pending', created_at, id LIMIT -1 OFFSET 1
)
"""

ENUMS = {"kind", "status", "hash_algorithm"}
NEEDED = {"created_at", "updated_at", "started_at"}


def apply(conn):
    for table, columns in TABLES.items():
        old = {name: kind for _, name, kind, *_ in conn.raw.execute(f"PRAGMA table_info({table})")}
        if old:
            take_over(conn, table, columns, old)
        else:
            conn.raw.execute(f"CREATE TABLE {table} ({columns})")
    conn.raw.execute(ONE_AT_A_TIME)
    conn.script(REST)


def take_over(conn, table, columns, old):
    """Make the table as it is now, with the columns of the old one that we do not know, and bring its rows over."""
    raw = conn.raw
    listed = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    for (index,) in raw.execute(listed, (table,)).fetchall():
        raw.execute(f'DROP INDEX "{index}"')
    raw.execute(f"ALTER TABLE {table} RENAME TO {table}_before")
    known = dict(re.findall(r"^    (\w+) +(.*?),?$", columns, re.M))
    unknown = [LATER.get(name) or f'"{name}" {kind}' for name, kind in old.items() if name not in known]
    raw.execute(f"CREATE TABLE {table} ({', '.join([columns.rstrip(), *unknown])})")

    needed = [name for name in NEEDED & known.keys() if "NOT NULL" in known[name]]
    target = [*old, *(name for name in needed if name not in old)]
    names = ", ".join(f'"{name}"' for name in target)
    marks = ", ".join("?" * len(target))
    for row in raw.execute(f"SELECT * FROM {table}_before").fetchall():
        cells = {name: changed(name, cell, known) for name, cell in zip(old, row, strict=True)}
        for name in needed:
            if cells.get(name) is None:
                cells[name] = conn.now()
        raw.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [cells[name] for name in target])
    raw.execute(f"DROP TABLE {table}_before")


def changed(name, cell, known):
    """A value as it is stored now."""
    if not isinstance(cell, str):
        return cell
    if name in ENUMS:
        return cell.lower()
    if known.get(name, "").startswith("INTEGER") and name.endswith(("_at", "_after")):
        moment = datetime.fromisoformat(cell)
        # A time without a zone was UTC.
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000_000)
    return cell
