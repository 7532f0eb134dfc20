-- How often an episode was searched for, and when it is again.
CREATE TABLE wanted_searches (
    episode_id  INTEGER NOT NULL PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    searches    INTEGER NOT NULL DEFAULT 0,
    is_asked    INTEGER NOT NULL DEFAULT 0,
    outcome     TEXT,
    searched_at INTEGER,
    next_at     INTEGER NOT NULL
);

CREATE INDEX ix_wanted_searches_asked ON wanted_searches (episode_id) WHERE is_asked = 1;

-- The automatic searches of the last hour, by which their limit is kept.
CREATE TABLE wanted_queries (
    id       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    asked_at INTEGER NOT NULL
);

CREATE INDEX ix_wanted_queries_asked ON wanted_queries (asked_at);

-- Nothing is searched for automatically before its keeper switches that on: for all shows here, or for one.
CREATE TABLE wanted_policy (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    is_automatic INTEGER NOT NULL
);

INSERT INTO wanted_policy (id, is_automatic) VALUES (1, 0);

ALTER TABLE series ADD COLUMN automatic_search INTEGER;
