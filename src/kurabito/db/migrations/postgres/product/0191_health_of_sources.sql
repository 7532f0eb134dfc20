-- How the services and the index are that metadata comes from: the last time each answered, and the last time it failed.
CREATE TABLE metadata_sources (
    name          text NOT NULL PRIMARY KEY,
    succeeded_at  bigint,
    failed_at     bigint,
    error_code    text,
    error_message text
);

-- The last import of the offline index, and what of its file could not be taken. One row at most.
CREATE TABLE index_imports (
    id            integer NOT NULL PRIMARY KEY CHECK (id = 1),
    imported_at   bigint  NOT NULL,
    entries       integer NOT NULL,
    unknown_kinds integer NOT NULL,
    bad_rows      integer NOT NULL,
    origin        text    NOT NULL
);
