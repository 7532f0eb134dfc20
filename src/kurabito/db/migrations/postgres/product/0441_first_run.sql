-- How far the set-up of a new installation is. It is offered until it was finished or left once.
CREATE TABLE first_run (
    id          bigint NOT NULL PRIMARY KEY CHECK (id = 1),
    step        text NOT NULL,
    finished_at bigint
);
