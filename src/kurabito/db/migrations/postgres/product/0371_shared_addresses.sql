-- Addresses that show the calendar and what arrived to those who know them, and nothing else. Only a hash of each is stored.
CREATE TABLE shared_addresses (
    id           text NOT NULL PRIMARY KEY,
    name         text NOT NULL,
    token_hash   text NOT NULL,
    created_at   bigint NOT NULL,
    renewed_at   bigint,
    last_used_at bigint,
    revoked_at   bigint
);

CREATE UNIQUE INDEX ix_shared_addresses_token_hash ON shared_addresses (token_hash);
