-- When the files of a matched folder were last given to their episodes.
CREATE TABLE folder_adoptions (
    match_id   INTEGER NOT NULL PRIMARY KEY REFERENCES folder_matches (id) ON DELETE CASCADE,
    adopted_at INTEGER NOT NULL
);
