-- What is told of a record beside its poster and its ids, and when its sources are asked again.
CREATE TABLE metadata_extras (
    metadata_id  INTEGER NOT NULL PRIMARY KEY REFERENCES metadata (id) ON DELETE CASCADE,
    asked_by     TEXT    NOT NULL,
    summaries    TEXT    NOT NULL,
    backdrop_url TEXT,
    ended_on     TEXT,
    failures     INTEGER NOT NULL,
    refreshed_at INTEGER,
    due_at       INTEGER NOT NULL
);

-- The pictures that are still somewhere else.
CREATE INDEX ix_metadata_extras_remote_backdrop ON metadata_extras (metadata_id)
    WHERE backdrop_url IS NOT NULL AND substr(backdrop_url, 1, 9) <> '/posters/';
