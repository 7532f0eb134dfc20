-- What a keeper hid from the list of what needs them, until it changes.
CREATE TABLE hidden_notices (
    key       text NOT NULL PRIMARY KEY,
    hidden_at bigint NOT NULL
);

-- The first page lists what arrived last, and what is shown next.
CREATE INDEX ix_episode_files_created ON episode_files (created_at);
CREATE INDEX ix_episodes_aired ON episodes (aired_at) WHERE aired_at IS NOT NULL;

-- The wall of shows by their titles.
CREATE INDEX ix_series_title ON series (state, lower(title), id);
