-- Addresses that show the calendar and what arrived to those who know them, and nothing else. Only a hash of each is stored.
CREATE TABLE shared_addresses (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    token_hash   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    renewed_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
);

CREATE UNIQUE INDEX ix_shared_addresses_token_hash ON shared_addresses (token_hash);
