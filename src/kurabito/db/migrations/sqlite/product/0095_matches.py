"""What the folders of a library are about, which record a series has, and the names by which records are found.

The names of the records that are there already are folded here, as they are whenever a record is written.
"""

from kurabito.titles import fold_title

TABLES = """
-- Every name of a record, folded, so that spelling alone keeps nothing apart.
CREATE TABLE metadata_titles (
    folded      TEXT    NOT NULL,
    metadata_id INTEGER NOT NULL REFERENCES metadata (id) ON DELETE CASCADE,
    PRIMARY KEY (folded, metadata_id)
) WITHOUT ROWID;

CREATE INDEX ix_metadata_titles_record ON metadata_titles (metadata_id);

-- The seasons of a show.
CREATE INDEX ix_offline_entries_tmdb ON offline_entries (tmdb_id, tmdb_season) WHERE tmdb_id IS NOT NULL;

-- The record that fills a series in.
ALTER TABLE series ADD COLUMN metadata_id INTEGER REFERENCES metadata (id) ON DELETE SET NULL;

CREATE INDEX ix_series_metadata ON series (metadata_id) WHERE metadata_id IS NOT NULL;
CREATE INDEX ix_series_without_record ON series (id) WHERE metadata_id IS NULL;

-- What a folder of a library is about. One that has no record and is not to be ignored waits for somebody to say.
CREATE TABLE folder_matches (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    library_id  INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder      TEXT    NOT NULL,
    reading     TEXT    NOT NULL,
    file_id     INTEGER NOT NULL,
    job_id      TEXT    NOT NULL,
    metadata_id INTEGER REFERENCES metadata (id) ON DELETE SET NULL,
    series_id   INTEGER REFERENCES series (id) ON DELETE SET NULL,
    matched_by  TEXT CHECK (matched_by IN ('offline', 'online', 'keeper')),
    is_ignored  INTEGER NOT NULL DEFAULT 0 CHECK (is_ignored IN (0, 1)),
    reasons     TEXT    NOT NULL DEFAULT '[]',
    candidates  TEXT    NOT NULL DEFAULT '[]',
    asked_at    INTEGER,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (library_id, folder)
);

CREATE INDEX ix_folder_matches_open ON folder_matches (id) WHERE metadata_id IS NULL AND is_ignored = 0;
CREATE INDEX ix_folder_matches_left ON folder_matches (job_id) WHERE metadata_id IS NULL AND is_ignored = 0;
CREATE INDEX ix_folder_matches_ignored ON folder_matches (id) WHERE is_ignored = 1;
CREATE INDEX ix_folder_matches_record ON folder_matches (metadata_id, id) WHERE metadata_id IS NOT NULL;
CREATE INDEX ix_folder_matches_series ON folder_matches (series_id, id) WHERE series_id IS NOT NULL;

-- How far the folders of a library were looked at: every scan up to this one, every file up to this one.
CREATE TABLE folder_looks (
    library_id INTEGER NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    session_id INTEGER NOT NULL,
    file_id    INTEGER NOT NULL
);
"""

LONGEST = 200


def apply(conn):
    conn.script(TABLES)
    records = conn.all("SELECT id, title_japanese, title_chinese, title_english FROM metadata")
    for metadata_id, *titles in records:
        for folded in {fold_title(title)[:LONGEST] for title in titles if title} - {""}:
            conn.run("INSERT INTO metadata_titles VALUES (:folded, :id)", {"folded": folded, "id": metadata_id})
