-- The files of private torrents, which work with nothing else. A file has the passkey of its keeper in it: it is given to the
-- downloader and never shown.
CREATE TABLE private_torrents (
    hash       TEXT    NOT NULL PRIMARY KEY,
    content    BLOB    NOT NULL,
    created_at INTEGER NOT NULL
);
