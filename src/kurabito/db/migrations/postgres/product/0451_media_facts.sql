-- What is in films and sound: how long they are, and which tracks they have. A data plane reads it, a few files at a time.
CREATE TABLE inspected_media (
    inspection_id bigint NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    relative_path text   NOT NULL,
    size_bytes    bigint NOT NULL,
    mtime_ns      bigint NOT NULL,
    facts         text,
    error_code    text,
    PRIMARY KEY (inspection_id, relative_path)
);

-- The same as the control plane knows it, for each file as it was then.
CREATE TABLE media_facts (
    file_id    bigint NOT NULL PRIMARY KEY,
    size_bytes bigint NOT NULL,
    mtime_ns   bigint NOT NULL,
    facts      text,
    error_code text,
    read_at    bigint NOT NULL
);

CREATE INDEX ix_inspections_media ON inspections (id) WHERE kind = 'media';
