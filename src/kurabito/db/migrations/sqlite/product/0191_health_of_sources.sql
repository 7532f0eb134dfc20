-- How the services and the index are that metadata comes from: the last time each answered, and the last time it failed.
CREATE TABLE metadata_sources (
    name          TEXT NOT NULL PRIMARY KEY,
    succeeded_at  INTEGER,
    failed_at     INTEGER,
    error_code    TEXT,
    error_message TEXT
);

-- The last import of the offline index, and what of its file could not be taken. One row at most.
CREATE TABLE index_imports (
    id            INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    imported_at   INTEGER NOT NULL,
    entries       INTEGER NOT NULL,
    unknown_kinds INTEGER NOT NULL,
    bad_rows      INTEGER NOT NULL,
    origin        TEXT    NOT NULL
);
