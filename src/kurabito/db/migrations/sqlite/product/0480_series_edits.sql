-- Edits of several series at once, each with what the series had before, so that it can be undone. The last ones are kept.
CREATE TABLE series_edits (
    id           INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    edit         TEXT    NOT NULL,
    before       TEXT    NOT NULL,
    series_count INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    undone_at    INTEGER
);
