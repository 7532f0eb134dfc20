-- What is told of a record beside its poster and its ids, and when its sources are asked again.
CREATE TABLE metadata_extras (
    metadata_id  bigint  NOT NULL PRIMARY KEY REFERENCES metadata (id) ON DELETE CASCADE,
    asked_by     text    NOT NULL,
    summaries    text    NOT NULL,
    backdrop_url text,
    ended_on     text,
    failures     bigint  NOT NULL,
    refreshed_at bigint,
    due_at       bigint  NOT NULL
);

-- The pictures that are still somewhere else.
CREATE INDEX ix_metadata_extras_remote_backdrop ON metadata_extras (metadata_id)
    WHERE backdrop_url IS NOT NULL AND substr(backdrop_url, 1, 9) <> '/posters/';
