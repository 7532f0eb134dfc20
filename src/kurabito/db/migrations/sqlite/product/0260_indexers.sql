-- What can be searched, and how it goes. The key of an indexer is a secret: it is written and never shown.
CREATE TABLE indexers (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('torznab', 'site')),
    name            TEXT    NOT NULL,
    site            TEXT,
    url             TEXT,
    api_key         TEXT,
    categories      TEXT    NOT NULL,
    min_seeders     INTEGER NOT NULL,
    priority        INTEGER NOT NULL,
    per_hour        INTEGER NOT NULL,
    is_enabled      INTEGER NOT NULL,
    allows_private  INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    rests_until     INTEGER,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ix_indexers_name ON indexers (name);

-- The last queries of each, by which its limit is kept.
CREATE TABLE indexer_queries (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    indexer_id INTEGER NOT NULL REFERENCES indexers (id) ON DELETE CASCADE,
    query      TEXT    NOT NULL,
    asked_at   INTEGER NOT NULL,
    results    INTEGER,
    error_code TEXT
);

CREATE INDEX ix_indexer_queries_indexer ON indexer_queries (indexer_id, asked_at);
