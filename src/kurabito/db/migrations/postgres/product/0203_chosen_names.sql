-- What keepers chose for folders of a name: evidence for the next folder of that name.
CREATE TABLE chosen_names (
    folded      text    NOT NULL,
    season      bigint  NOT NULL,
    is_film     bigint  NOT NULL CHECK (is_film IN (0, 1)),
    metadata_id bigint  NOT NULL REFERENCES metadata (id) ON DELETE CASCADE,
    chosen_at   bigint  NOT NULL,
    PRIMARY KEY (folded, season, is_film)
);

CREATE INDEX ix_chosen_names_record ON chosen_names (metadata_id);
