-- The dumps that were imported beside bangumi-data, and when.
CREATE TABLE offline_imports (
    source      TEXT    NOT NULL PRIMARY KEY,
    file_name   TEXT    NOT NULL,
    entries     INTEGER NOT NULL,
    skipped     INTEGER NOT NULL,
    imported_at INTEGER NOT NULL
);

-- What each dump says of each of its entries. The index is made of them again after every import.
CREATE TABLE offline_dumps (
    source TEXT    NOT NULL,
    number INTEGER NOT NULL,
    facts  TEXT    NOT NULL,
    PRIMARY KEY (source, number)
) WITHOUT ROWID;

ALTER TABLE offline_entries ADD COLUMN source TEXT NOT NULL DEFAULT 'bangumi-data';
ALTER TABLE offline_entries ADD COLUMN episode_count INTEGER;
-- The entries that tell one story have the same; those that stand alone have none.
ALTER TABLE offline_entries ADD COLUMN franchise_id INTEGER;

CREATE INDEX ix_offline_entries_franchise ON offline_entries (franchise_id) WHERE franchise_id IS NOT NULL;
CREATE INDEX ix_offline_entries_anidb ON offline_entries (anidb_id) WHERE anidb_id IS NOT NULL;
CREATE INDEX ix_offline_entries_mal ON offline_entries (mal_id) WHERE mal_id IS NOT NULL;

-- Which source has the name, and in which language; x-jat is Japanese in Latin letters.
ALTER TABLE offline_titles ADD COLUMN name_source TEXT NOT NULL DEFAULT 'bangumi-data';
ALTER TABLE offline_titles ADD COLUMN name_language TEXT;

-- Which number the first episode of an entry has, by a source: in a season of TMDB, or through all seasons.
CREATE TABLE offline_offsets (
    entry_id INTEGER NOT NULL,
    source   TEXT    NOT NULL,
    season   INTEGER,
    first    INTEGER NOT NULL,
    PRIMARY KEY (entry_id, source)
) WITHOUT ROWID;

-- The episodes of an entry as one source lists them.
CREATE TABLE episode_lists (
    source   TEXT    NOT NULL,
    entry    TEXT    NOT NULL,
    episodes TEXT    NOT NULL,
    read_at  INTEGER NOT NULL,
    PRIMARY KEY (source, entry)
) WITHOUT ROWID;
