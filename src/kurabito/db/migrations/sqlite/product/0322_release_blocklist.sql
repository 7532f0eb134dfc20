-- Releases that failed, and are not taken again before a time. What is cleared stays, so that no failure is counted twice.
CREATE TABLE release_blocklist (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_key   TEXT NOT NULL,
    download_id   INTEGER REFERENCES downloads (id) ON DELETE SET NULL,
    series_id     INTEGER REFERENCES series (id) ON DELETE CASCADE,
    title         TEXT NOT NULL,
    reason        TEXT,
    blocked_until INTEGER,
    cleared_at    INTEGER,
    created_at    INTEGER NOT NULL
);

CREATE INDEX ix_release_blocklist_release ON release_blocklist (release_key) WHERE cleared_at IS NULL;
CREATE UNIQUE INDEX ix_release_blocklist_download ON release_blocklist (download_id) WHERE download_id IS NOT NULL;
CREATE INDEX ix_release_blocklist_series ON release_blocklist (series_id) WHERE series_id IS NOT NULL;
