-- What keepers chose for folders of a name: evidence for the next folder of that name.
CREATE TABLE chosen_names (
    folded      TEXT    NOT NULL,
    season      INTEGER NOT NULL,
    is_film     INTEGER NOT NULL CHECK (is_film IN (0, 1)),
    metadata_id INTEGER NOT NULL REFERENCES metadata (id) ON DELETE CASCADE,
    chosen_at   INTEGER NOT NULL,
    PRIMARY KEY (folded, season, is_film)
) WITHOUT ROWID;

CREATE INDEX ix_chosen_names_record ON chosen_names (metadata_id);
