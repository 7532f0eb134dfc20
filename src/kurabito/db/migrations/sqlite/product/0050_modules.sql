-- Services that registered themselves, and what each downloader can take.
CREATE TABLE service_modules (
    module_id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    service_type      TEXT    NOT NULL CHECK (service_type IN ('fetcher', 'downloader', 'viewer')),
    service_name      TEXT    NOT NULL,
    host              TEXT    NOT NULL,
    port              INTEGER NOT NULL,
    instance_id       TEXT    NOT NULL,
    token             TEXT    NOT NULL,
    fetch_endpoint    TEXT,
    download_endpoint TEXT,
    sync_endpoint     TEXT,
    priority          INTEGER NOT NULL DEFAULT 50,
    priority_is_set   INTEGER NOT NULL DEFAULT 0 CHECK (priority_is_set IN (0, 1)),
    is_enabled        INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    registered_at     INTEGER NOT NULL,
    last_seen_at      INTEGER NOT NULL,
    UNIQUE (service_type, service_name)
);

CREATE TABLE downloader_capabilities (
    module_id     INTEGER NOT NULL REFERENCES service_modules (module_id) ON DELETE CASCADE,
    download_type TEXT    NOT NULL CHECK (download_type IN ('magnet', 'torrent', 'http')),
    PRIMARY KEY (module_id, download_type)
);
