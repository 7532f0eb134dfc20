-- What is known of a show or a film, wherever it came from.
CREATE TABLE metadata (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('tv', 'web', 'ova', 'movie')),
    title_japanese  TEXT,
    title_chinese   TEXT,
    title_english   TEXT,
    year            INTEGER,
    season          INTEGER,
    air_date        TEXT,
    air_weekday     INTEGER CHECK (air_weekday BETWEEN 1 AND 7),
    episode_count   INTEGER,
    summary         TEXT,
    poster_url      TEXT,
    bgm_id          INTEGER,
    tmdb_id         INTEGER,
    tmdb_kind       TEXT CHECK (tmdb_kind IN ('tv', 'movie')),
    tmdb_season     INTEGER,
    tmdb_lookup_at  INTEGER,
    tmdb_candidates TEXT    NOT NULL DEFAULT '[]',
    anidb_id        INTEGER,
    anilist_id      INTEGER,
    mal_id          INTEGER,
    mikan_id        INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ix_metadata_bgm ON metadata (bgm_id) WHERE bgm_id IS NOT NULL;
CREATE INDEX ix_metadata_tmdb ON metadata (tmdb_id) WHERE tmdb_id IS NOT NULL;
-- What a sync has to look at; with both of them it sees without reading a record that nothing is to be done.
CREATE INDEX ix_metadata_remote_poster ON metadata (id)
    WHERE poster_url IS NOT NULL AND poster_url <> '' AND substr(poster_url, 1, 9) <> '/posters/';
CREATE INDEX ix_metadata_without_tmdb ON metadata (tmdb_lookup_at, id)
    WHERE tmdb_id IS NULL AND title_japanese IS NOT NULL AND title_japanese <> '';

-- What is on this week, as bgm.tv said last.
CREATE TABLE calendar_entries (
    metadata_id  INTEGER NOT NULL PRIMARY KEY,
    weekday      INTEGER NOT NULL CHECK (weekday BETWEEN 1 AND 7),
    place        INTEGER NOT NULL,
    refreshed_at INTEGER NOT NULL
);

CREATE INDEX ix_calendar_entries_day ON calendar_entries (weekday, place);

-- Ids that are known without asking anybody, from a file that was imported.
CREATE TABLE offline_entries (
    id            INTEGER NOT NULL PRIMARY KEY,
    kind          TEXT    NOT NULL CHECK (kind IN ('tv', 'web', 'ova', 'movie')),
    title         TEXT    NOT NULL,
    title_chinese TEXT,
    title_english TEXT,
    language      TEXT    NOT NULL,
    air_date      TEXT,
    air_weekday   INTEGER,
    year          INTEGER,
    bgm_id        INTEGER,
    tmdb_id       INTEGER,
    tmdb_kind     TEXT CHECK (tmdb_kind IN ('tv', 'movie')),
    tmdb_season   INTEGER,
    anidb_id      INTEGER,
    anilist_id    INTEGER,
    mal_id        INTEGER,
    mikan_id      INTEGER
);

CREATE INDEX ix_offline_entries_bgm ON offline_entries (bgm_id);
CREATE INDEX ix_offline_entries_air_date ON offline_entries (air_date, id);

-- Every name of an entry, folded, so that spelling alone keeps nothing apart.
CREATE TABLE offline_titles (
    folded   TEXT    NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (folded, entry_id)
) WITHOUT ROWID;
