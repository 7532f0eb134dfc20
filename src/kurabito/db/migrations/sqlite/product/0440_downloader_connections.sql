-- The download clients that the keeper typed into the page: `kurabito serve` speaks to them itself.
-- The password is as it was typed, because it has to be used. A data plane has no right to read it.
CREATE TABLE downloader_connections (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    client      TEXT NOT NULL,
    url         TEXT NOT NULL,
    username    TEXT NOT NULL,
    password    TEXT NOT NULL,
    instance_id TEXT NOT NULL UNIQUE,
    token       TEXT NOT NULL,
    changed_at  INTEGER NOT NULL
);
