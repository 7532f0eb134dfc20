-- Which links are taken. Without a target a fetcher's rule is about the built-in one.
CREATE TABLE filter_rules (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL,
    rule_order  INTEGER NOT NULL DEFAULT 0,
    action      TEXT    NOT NULL CHECK (action IN ('include', 'exclude')),
    target_type TEXT    NOT NULL CHECK (target_type IN ('global', 'series', 'group', 'fetcher', 'subscription')),
    target_id   INTEGER,
    pattern     TEXT,
    fields      TEXT    NOT NULL DEFAULT '{}',
    is_enabled  INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
);

CREATE INDEX ix_anime_links_group ON anime_links (group_id, id);
