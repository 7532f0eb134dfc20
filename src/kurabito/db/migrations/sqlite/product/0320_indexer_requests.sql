-- Every request counts towards the limit of an indexer, also those for further pages.
CREATE TABLE indexer_requests (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    indexer_id INTEGER NOT NULL REFERENCES indexers (id) ON DELETE CASCADE,
    asked_at   INTEGER NOT NULL
);

CREATE INDEX ix_indexer_requests_indexer ON indexer_requests (indexer_id, asked_at);

-- What was asked in the last hour still counts after the migration.
INSERT INTO indexer_requests (indexer_id, asked_at) SELECT indexer_id, asked_at FROM indexer_queries;

-- A proxy may have a password in it: it is written, and shown without.
ALTER TABLE indexers ADD COLUMN proxy TEXT;
ALTER TABLE indexers ADD COLUMN seed_ratio REAL;
ALTER TABLE indexers ADD COLUMN seed_minutes INTEGER;

-- Where a release was found by a search, which says how long it is seeded.
ALTER TABLE anime_links ADD COLUMN indexer_id INTEGER REFERENCES indexers (id) ON DELETE SET NULL;
CREATE INDEX ix_anime_links_indexer ON anime_links (indexer_id) WHERE indexer_id IS NOT NULL;
