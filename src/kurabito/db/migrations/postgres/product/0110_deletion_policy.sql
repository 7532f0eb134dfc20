-- Whether anything may be removed, as the control plane was told when it started. Data planes read it before they claim a job
-- that removes something, and before each step. Without a row nothing may.
CREATE TABLE deletion_policy (
    id           integer NOT NULL PRIMARY KEY CHECK (id = 1),
    allow_delete integer NOT NULL CHECK (allow_delete IN (0, 1)),
    updated_at   bigint  NOT NULL
);
