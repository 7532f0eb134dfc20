-- Media servers that hear which folders changed. A token is a secret: it is written and never shown.
CREATE TABLE media_servers (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('jellyfin', 'emby', 'plex', 'kodi', 'webhook')),
    name            TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    token           TEXT,
    path_maps       TEXT    NOT NULL,
    is_enabled      INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_media_servers_name ON media_servers (name);

-- The folders that a server is to hear of, each once.
CREATE TABLE media_server_notices (
    server_id INTEGER NOT NULL REFERENCES media_servers (id) ON DELETE CASCADE,
    folder    TEXT    NOT NULL,
    noted_at  INTEGER NOT NULL,
    PRIMARY KEY (server_id, folder)
);
