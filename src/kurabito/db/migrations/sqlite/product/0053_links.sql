-- One downloadable release of one episode; a batch has a link for each. Links of one release share its release_key: the hash, or
-- the URL's own while the hash is not known.
CREATE TABLE anime_links (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_key   TEXT    NOT NULL,
    raw_item_id   INTEGER REFERENCES raw_anime_items (id) ON DELETE SET NULL,
    series_id     INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    episode_id    INTEGER REFERENCES episodes (id) ON DELETE CASCADE,
    group_id      INTEGER REFERENCES groups (id),
    title         TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    hash          TEXT,
    download_type TEXT CHECK (download_type IN ('magnet', 'torrent', 'http')),
    resolution    INTEGER,
    source        TEXT,
    languages     TEXT    NOT NULL DEFAULT '[]',
    version       INTEGER,
    size_bytes    INTEGER,
    is_batch      INTEGER NOT NULL DEFAULT 0 CHECK (is_batch IN (0, 1)),
    held_reason   TEXT CHECK (held_reason IN ('no_episode', 'series_asked', 'series_ignored')),
    is_filtered   INTEGER NOT NULL DEFAULT 0 CHECK (is_filtered IN (0, 1)),
    filter_reason TEXT,
    created_at    INTEGER NOT NULL
);

CREATE UNIQUE INDEX ix_anime_links_release_episode ON anime_links (release_key, episode_id);
CREATE UNIQUE INDEX ix_anime_links_release_whole ON anime_links (release_key) WHERE episode_id IS NULL;
CREATE INDEX ix_anime_links_series ON anime_links (series_id, id);
CREATE INDEX ix_anime_links_episode ON anime_links (episode_id);
CREATE INDEX ix_anime_links_raw_item ON anime_links (raw_item_id);
CREATE INDEX ix_anime_links_held ON anime_links (id) WHERE held_reason IS NOT NULL;
