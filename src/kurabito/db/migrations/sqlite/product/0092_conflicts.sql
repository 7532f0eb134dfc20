-- Which of several releases of one episode is taken.
ALTER TABLE subscriptions ADD COLUMN conflict_policy TEXT NOT NULL DEFAULT 'best'
    CHECK (conflict_policy IN ('best', 'first', 'ask'));
ALTER TABLE subscriptions ADD COLUMN upgrade INTEGER NOT NULL DEFAULT 0 CHECK (upgrade IN (0, 1));
ALTER TABLE subscriptions ADD COLUMN wait_minutes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN preferences TEXT NOT NULL DEFAULT '{}';

-- An episode whose release is still to be chosen: by its keeper, or by us when the wait is over.
CREATE TABLE conflicts (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    status     TEXT    NOT NULL CHECK (status IN ('waiting', 'asked', 'resolved')),
    link_id    INTEGER REFERENCES anime_links (id) ON DELETE SET NULL,
    due_at     INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_conflicts_open ON conflicts (episode_id) WHERE status <> 'resolved';
CREATE INDEX ix_conflicts_status ON conflicts (status, id);
