-- NFO files and posters beside the media: which libraries have them.
ALTER TABLE library_roots ADD COLUMN writes_nfo integer NOT NULL DEFAULT 0;
ALTER TABLE library_roots ADD COLUMN writes_posters integer NOT NULL DEFAULT 0;

-- When the files that describe a series in a library were last compared with what is known of it; NULL: they are to be.
CREATE TABLE described_series (
    series_id    bigint NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    library_id   bigint NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    described_at bigint,
    PRIMARY KEY (series_id, library_id)
);

INSERT INTO described_series (series_id, library_id) SELECT series_id, library_id FROM series_places;

-- What Kurabito wrote to describe a series: which file, with which content, and by which placement it has its name.
CREATE TABLE description_files (
    library_id   bigint NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    subject      text   NOT NULL,
    path         text   NOT NULL,
    digest       text   NOT NULL,
    placement_id bigint NOT NULL REFERENCES placements (id) ON DELETE CASCADE,
    PRIMARY KEY (library_id, subject)
);

CREATE INDEX ix_description_files_placement ON description_files (placement_id);

-- Few placements fail, and they are asked for often.
CREATE INDEX ix_placements_failed ON placements (id) WHERE status = 'failed';
