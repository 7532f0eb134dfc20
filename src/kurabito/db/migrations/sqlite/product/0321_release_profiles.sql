-- How releases are chosen: profiles with a name, which many shows share, and the own one of a show.
CREATE TABLE release_profiles (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name            TEXT,
    series_id       INTEGER REFERENCES series (id) ON DELETE CASCADE,
    is_default      INTEGER NOT NULL DEFAULT 0,
    conflict_policy TEXT NOT NULL CHECK (conflict_policy IN ('best', 'first', 'ask')),
    upgrade         INTEGER NOT NULL,
    wait_minutes    INTEGER NOT NULL,
    preferences     TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    CHECK ((name IS NULL) <> (series_id IS NULL))
);

CREATE UNIQUE INDEX ix_release_profiles_name ON release_profiles (name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX ix_release_profiles_series ON release_profiles (series_id) WHERE series_id IS NOT NULL;
CREATE UNIQUE INDEX ix_release_profiles_default ON release_profiles (is_default) WHERE is_default = 1;

ALTER TABLE series ADD COLUMN profile_id INTEGER REFERENCES release_profiles (id) ON DELETE SET NULL;
CREATE INDEX ix_series_profile ON series (profile_id) WHERE profile_id IS NOT NULL;
