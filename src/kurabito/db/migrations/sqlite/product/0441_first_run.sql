-- How far the set-up of a new installation is. It is offered until it was finished or left once.
CREATE TABLE first_run (
    id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    step        TEXT NOT NULL,
    finished_at INTEGER
);
