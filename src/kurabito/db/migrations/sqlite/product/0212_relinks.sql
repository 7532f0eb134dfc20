-- Links are read again when what they are read by changes: each run with the links that it moved, and what all were read by last.
CREATE TABLE relinks (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    cause       TEXT    NOT NULL CHECK (cause IN ('rule', 'offset', 'names', 'index', 'parser')),
    links_read  INTEGER NOT NULL DEFAULT 0,
    links_moved INTEGER NOT NULL DEFAULT 0,
    links_held  INTEGER NOT NULL DEFAULT 0,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER
);

CREATE TABLE relinked_links (
    relink_id   INTEGER NOT NULL REFERENCES relinks (id) ON DELETE CASCADE,
    link_id     INTEGER NOT NULL REFERENCES anime_links (id) ON DELETE CASCADE,
    from_series INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    from_number REAL,
    to_series   INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    to_number   REAL,
    PRIMARY KEY (relink_id, link_id)
);

CREATE INDEX ix_relinked_links_link ON relinked_links (link_id);
CREATE INDEX ix_relinked_links_from ON relinked_links (from_series);
CREATE INDEX ix_relinked_links_to ON relinked_links (to_series);

CREATE TABLE links_read_by (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    parser   INTEGER NOT NULL,
    index_at INTEGER
);
