-- When the files of a matched folder were last given to their episodes.
CREATE TABLE folder_adoptions (
    match_id   bigint NOT NULL PRIMARY KEY REFERENCES folder_matches (id) ON DELETE CASCADE,
    adopted_at bigint NOT NULL
);
