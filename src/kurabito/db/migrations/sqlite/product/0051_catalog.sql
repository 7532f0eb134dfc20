-- What releases are about. A series is one season of one show, or a film.
CREATE TABLE series (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    title          TEXT    NOT NULL,
    season         INTEGER NOT NULL DEFAULT 1,
    kind           TEXT    NOT NULL DEFAULT 'tv' CHECK (kind IN ('tv', 'movie')),
    year           INTEGER,
    episode_offset INTEGER NOT NULL DEFAULT 0,
    state          TEXT    NOT NULL DEFAULT 'followed' CHECK (state IN ('followed', 'asked', 'ignored')),
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
);

CREATE INDEX ix_series_state ON series (state, id);

-- The names of series, folded to letters and digits. The season is the one that titles say beside the name, 1 if they say none:
-- it leads two seasons of one name apart, and stays when the shelf counts them otherwise.
CREATE TABLE series_aliases (
    folded    TEXT    NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    season    INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    series_id INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    PRIMARY KEY (folded, kind, season)
);

CREATE INDEX ix_series_aliases_series ON series_aliases (series_id);

CREATE TABLE episodes (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    series_id  INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL
        CHECK (kind IN ('tv', 'movie', 'ova', 'special', 'opening', 'ending', 'trailer')),
    number     REAL    NOT NULL,
    state      TEXT    NOT NULL DEFAULT 'wanted' CHECK (state IN ('have', 'downloading', 'wanted')),
    aired_at   INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (series_id, kind, number)
);

-- Who releases.
CREATE TABLE groups (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    folded     TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
);

-- What a user says of titles that are read wrongly.
CREATE TABLE title_rules (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    condition  TEXT    NOT NULL,
    parse      TEXT    NOT NULL,
    fields     TEXT    NOT NULL DEFAULT '{}',
    priority   INTEGER NOT NULL DEFAULT 50,
    is_enabled INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
