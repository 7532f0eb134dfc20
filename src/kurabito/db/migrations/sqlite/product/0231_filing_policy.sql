-- What a library takes in, and how files come into it: the modes, the best first.
ALTER TABLE library_roots ADD COLUMN accepts TEXT NOT NULL DEFAULT 'any' CHECK (accepts IN ('any', 'tv', 'movie', 'nothing'));
ALTER TABLE library_roots ADD COLUMN placement_modes TEXT NOT NULL DEFAULT '["link", "copy"]';

-- Where a series lies: its library and its folder there, chosen once and remembered.
CREATE TABLE series_places (
    series_id  INTEGER NOT NULL PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    library_id INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder     TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
);

-- What a person has to say before a file can be filed. Without a path it is about all files of the download.
CREATE TABLE filing_questions (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    inspection_id INTEGER NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    path          TEXT,
    reason        TEXT    NOT NULL,
    candidates    TEXT    NOT NULL DEFAULT '[]',
    created_at    INTEGER NOT NULL,
    resolved_at   INTEGER
);

CREATE INDEX ix_filing_questions_open ON filing_questions (id) WHERE resolved_at IS NULL;
CREATE INDEX ix_filing_questions_inspection ON filing_questions (inspection_id);

-- Which episodes a placed file has.
CREATE TABLE placement_episodes (
    placement_id INTEGER NOT NULL REFERENCES placements (id) ON DELETE CASCADE,
    episode_id   INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    PRIMARY KEY (placement_id, episode_id)
) WITHOUT ROWID;

-- The files of libraries that episodes are in.
CREATE TABLE episode_files (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    file_id    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (episode_id, file_id)
) WITHOUT ROWID;

CREATE INDEX ix_episode_files_file ON episode_files (file_id);
