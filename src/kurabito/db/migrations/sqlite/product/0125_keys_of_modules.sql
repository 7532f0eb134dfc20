-- Which module a key speaks for: the one that it registered first. It keeps that until it is revoked.
CREATE TABLE module_keys (
    key_id       TEXT    NOT NULL PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
    service_type TEXT    NOT NULL CHECK (service_type IN ('fetcher', 'downloader', 'viewer')),
    service_name TEXT    NOT NULL,
    bound_at     INTEGER NOT NULL
);

CREATE INDEX ix_module_keys_module ON module_keys (service_type, service_name);
