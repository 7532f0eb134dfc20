-- The product's tables on SQLite as they are once every migration was applied: to read, not to run. A test compares them.

-- Secrets are stored as hashes only: whoever reads the database cannot log in with what is in it.
CREATE TABLE api_keys (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    secret_hash  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
);

CREATE UNIQUE INDEX ix_api_keys_secret_hash ON api_keys (secret_hash);

CREATE TABLE passwords (
    user_name  TEXT NOT NULL PRIMARY KEY,
    hash       TEXT NOT NULL,
    changed_at INTEGER NOT NULL
);

CREATE TABLE sessions (
    token_hash TEXT NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

CREATE TABLE login_links (
    token_hash TEXT NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

-- Who touches the disks. A row is believed until expires_at.
CREATE TABLE data_planes (
    name         TEXT NOT NULL PRIMARY KEY,
    lines        TEXT NOT NULL,
    version      TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
);
