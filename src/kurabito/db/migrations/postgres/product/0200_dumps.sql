-- The dumps that were imported beside bangumi-data, and when.
CREATE TABLE offline_imports (
    source      text    NOT NULL PRIMARY KEY,
    file_name   text    NOT NULL,
    entries     bigint  NOT NULL,
    skipped     bigint  NOT NULL,
    imported_at bigint  NOT NULL
);

-- What each dump says of each of its entries. The index is made of them again after every import.
CREATE TABLE offline_dumps (
    source text    NOT NULL,
    number bigint  NOT NULL,
    facts  text    NOT NULL,
    PRIMARY KEY (source, number)
);

ALTER TABLE offline_entries ADD COLUMN source text NOT NULL DEFAULT 'bangumi-data';
ALTER TABLE offline_entries ADD COLUMN episode_count bigint;
-- The entries that tell one story have the same; those that stand alone have none.
ALTER TABLE offline_entries ADD COLUMN franchise_id bigint;

CREATE INDEX ix_offline_entries_franchise ON offline_entries (franchise_id) WHERE franchise_id IS NOT NULL;
CREATE INDEX ix_offline_entries_anidb ON offline_entries (anidb_id) WHERE anidb_id IS NOT NULL;
CREATE INDEX ix_offline_entries_mal ON offline_entries (mal_id) WHERE mal_id IS NOT NULL;

-- Which source has the name, and in which language; x-jat is Japanese in Latin letters.
ALTER TABLE offline_titles ADD COLUMN name_source text NOT NULL DEFAULT 'bangumi-data';
ALTER TABLE offline_titles ADD COLUMN name_language text;

-- Which number the first episode of an entry has, by a source: in a season of TMDB, or through all seasons.
CREATE TABLE offline_offsets (
    entry_id bigint  NOT NULL,
    source   text    NOT NULL,
    season   bigint,
    first    bigint  NOT NULL,
    PRIMARY KEY (entry_id, source)
);

-- The episodes of an entry as one source lists them.
CREATE TABLE episode_lists (
    source   text    NOT NULL,
    entry    text    NOT NULL,
    episodes text    NOT NULL,
    read_at  bigint  NOT NULL,
    PRIMARY KEY (source, entry)
);
