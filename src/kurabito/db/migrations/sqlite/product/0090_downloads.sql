-- A download is one dispatch of one link, through whichever downloader took it.
CREATE TABLE downloads (
    id               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    link_id          INTEGER NOT NULL REFERENCES anime_links (id) ON DELETE CASCADE,
    module_id        INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    status           TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN
        ('pending', 'downloading', 'completed', 'failed', 'cancelled', 'downloader_error', 'no_downloader')),
    hash             TEXT,
    save_path        TEXT,
    progress         REAL    NOT NULL DEFAULT 0,
    size_bytes       INTEGER,
    downloaded_bytes INTEGER NOT NULL DEFAULT 0,
    rate             INTEGER,
    peers            INTEGER,
    detail           TEXT,
    reason           TEXT,
    avoids_module_id INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    missed_polls     INTEGER NOT NULL DEFAULT 0,
    queued_at        INTEGER NOT NULL,
    progressed_at    INTEGER,
    completed_at     INTEGER,
    forgotten_at     INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_downloads_active_link ON downloads (link_id)
    WHERE status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX ix_downloads_link ON downloads (link_id, status);
CREATE INDEX ix_downloads_module ON downloads (module_id, status);
CREATE INDEX ix_downloads_status ON downloads (status, id);
CREATE INDEX ix_downloads_hash ON downloads (hash, module_id, status);

-- Written before anything is sent. `owed` is what has still to be cleared up at that downloader.
CREATE TABLE dispatch_attempts (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    download_id INTEGER NOT NULL REFERENCES downloads (id) ON DELETE CASCADE,
    module_id   INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    module_name TEXT    NOT NULL,
    hash        TEXT,
    outcome     TEXT    NOT NULL CHECK (outcome IN ('sent', 'accepted', 'rejected', 'unreachable', 'unclear')),
    reason      TEXT,
    owed        TEXT CHECK (owed IN ('look', 'cancel', 'delete', 'delete_files')),
    sent_at     INTEGER NOT NULL,
    answered_at INTEGER
);

CREATE INDEX ix_dispatch_attempts_download ON dispatch_attempts (download_id, id);
CREATE INDEX ix_dispatch_attempts_owed ON dispatch_attempts (module_id) WHERE owed IS NOT NULL;

-- The same folder as the core and as a downloader see it.
CREATE TABLE path_maps (
    module_id         INTEGER NOT NULL REFERENCES service_modules (module_id) ON DELETE CASCADE,
    core_prefix       TEXT    NOT NULL,
    downloader_prefix TEXT    NOT NULL,
    PRIMARY KEY (module_id, core_prefix)
);
