-- What a followed series wants: everything, what has no file, or only what comes from a moment on.
ALTER TABLE series ADD COLUMN wanted TEXT NOT NULL DEFAULT 'all' CHECK (wanted IN ('future', 'missing', 'all'));
ALTER TABLE series ADD COLUMN wanted_since INTEGER;
-- The library that its files go into, where the user chose one.
ALTER TABLE series ADD COLUMN library_id INTEGER REFERENCES library_roots (id) ON DELETE SET NULL;

-- By what an episode has a file: it was placed, its name says it, or a person did.
ALTER TABLE episode_files ADD COLUMN given_by TEXT NOT NULL DEFAULT 'placement'
    CHECK (given_by IN ('placement', 'name', 'keeper'));

-- When what a library has was last given to episodes: all of it, and each folder as it was then.
DROP TABLE folder_adoptions;
CREATE TABLE library_adoptions (
    library_id INTEGER NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    adopted_at INTEGER NOT NULL
);

CREATE TABLE adopted_folders (
    library_id  INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder      TEXT    NOT NULL,
    records     TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    PRIMARY KEY (library_id, folder)
) WITHOUT ROWID;

-- Videos of a library that no episode has, and why.
CREATE TABLE unadopted_files (
    file_id    INTEGER NOT NULL PRIMARY KEY,
    library_id INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder     TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX ix_unadopted_files_library ON unadopted_files (library_id, folder);
