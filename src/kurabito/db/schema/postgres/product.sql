-- The product's tables on PostgreSQL as they are once every migration was applied: to read, not to run. A test compares them.

-- Secrets are stored as hashes only: whoever reads the database cannot log in with what is in it.
CREATE TABLE api_keys (
    id           text NOT NULL PRIMARY KEY,
    name         text NOT NULL,
    scopes       text NOT NULL,
    secret_hash  text NOT NULL,
    created_at   bigint NOT NULL,
    last_used_at bigint,
    revoked_at   bigint
);

CREATE UNIQUE INDEX ix_api_keys_secret_hash ON api_keys (secret_hash);

CREATE TABLE passwords (
    user_name  text NOT NULL PRIMARY KEY,
    hash       text NOT NULL,
    changed_at bigint NOT NULL
);

CREATE TABLE sessions (
    token_hash text NOT NULL PRIMARY KEY,
    created_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE TABLE login_links (
    token_hash text NOT NULL PRIMARY KEY,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

-- Who touches the disks. A row is believed until expires_at.
CREATE TABLE data_planes (
    name         text NOT NULL PRIMARY KEY,
    lines        text NOT NULL,
    version      text NOT NULL,
    started_at   bigint NOT NULL,
    heartbeat_at bigint NOT NULL,
    expires_at   bigint NOT NULL
);
