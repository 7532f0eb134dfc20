-- The files of a download, as its downloader told them when it was complete. A path lies below `downloads.save_path`, which is
-- the folder where they really are.
CREATE TABLE download_files (
    download_id bigint  NOT NULL REFERENCES downloads (id) ON DELETE CASCADE,
    position    integer NOT NULL,
    path        text    NOT NULL,
    size_bytes  bigint  NOT NULL,
    is_wanted   integer NOT NULL CHECK (is_wanted IN (0, 1)),
    is_complete integer NOT NULL CHECK (is_complete IN (0, 1)),
    PRIMARY KEY (download_id, position)
);
