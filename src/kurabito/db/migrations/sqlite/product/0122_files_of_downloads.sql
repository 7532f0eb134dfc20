-- The files of a download, as its downloader told them when it was complete. A path lies below `downloads.save_path`, which is
-- the folder where they really are.
CREATE TABLE download_files (
    download_id INTEGER NOT NULL REFERENCES downloads (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    path        TEXT    NOT NULL,
    size_bytes  INTEGER NOT NULL,
    is_wanted   INTEGER NOT NULL CHECK (is_wanted IN (0, 1)),
    is_complete INTEGER NOT NULL CHECK (is_complete IN (0, 1)),
    PRIMARY KEY (download_id, position)
) WITHOUT ROWID;
