-- Feeds that are followed. Without a module the built-in fetcher reads them; without a series they are about many.
CREATE TABLE subscriptions (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    url             TEXT    NOT NULL UNIQUE,
    module_id       INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    series_id       INTEGER REFERENCES series (id) ON DELETE SET NULL,
    new_series      TEXT    NOT NULL DEFAULT 'ask' CHECK (new_series IN ('add', 'ask')),
    start_with      TEXT    NOT NULL DEFAULT 'now' CHECK (start_with IN ('now', 'missing', 'chosen')),
    fetch_interval  INTEGER NOT NULL,
    is_enabled      INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    allows_private  INTEGER NOT NULL DEFAULT 0 CHECK (allows_private IN (0, 1)),
    etag            TEXT,
    last_modified   TEXT,
    next_fetch_at   INTEGER,
    last_fetched_at INTEGER,
    last_success_at INTEGER,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE INDEX ix_subscriptions_due ON subscriptions (next_fetch_at) WHERE is_enabled = 1;

-- What feeds gave, as it came. An item's release_key is that of the links that are about it.
CREATE TABLE raw_anime_items (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    identity        TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    description     TEXT,
    download_url    TEXT,
    pub_date        INTEGER,
    size_bytes      INTEGER,
    info_hash       TEXT,
    fetcher_source  TEXT,
    status          TEXT    NOT NULL CHECK (status IN ('parsed', 'failed', 'skipped')),
    reason          TEXT,
    release_key     TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    UNIQUE (subscription_id, identity)
);

CREATE INDEX ix_raw_anime_items_status ON raw_anime_items (status, id);
CREATE INDEX ix_raw_anime_items_subscription ON raw_anime_items (subscription_id, id);
