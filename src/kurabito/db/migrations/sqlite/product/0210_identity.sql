-- Which series a release is about is a decision with evidence; what cannot be decided is asked, and a person's word is remembered.

ALTER TABLE series ADD COLUMN country TEXT;
ALTER TABLE series ADD COLUMN merged_into INTEGER REFERENCES series (id) ON DELETE CASCADE;
ALTER TABLE series ADD COLUMN is_offset_said INTEGER NOT NULL DEFAULT 0 CHECK (is_offset_said IN (0, 1));

CREATE INDEX ix_series_merged ON series (merged_into) WHERE merged_into IS NOT NULL;

-- The names of series, folded to letters and digits, each with what titles say beside it: the season (1 if they say none), the
-- year (0) and the country (''). They lead two seasons, a remake and its original, and two versions of one show apart.
ALTER TABLE series_aliases RENAME TO earlier_aliases;
DROP INDEX ix_series_aliases_series;

CREATE TABLE series_aliases (
    folded     TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    season     INTEGER NOT NULL,
    year       INTEGER NOT NULL DEFAULT 0,
    country    TEXT    NOT NULL DEFAULT '',
    name       TEXT    NOT NULL,
    romaji     TEXT,
    source     TEXT    NOT NULL DEFAULT 'earlier' CHECK (source IN ('earlier', 'title', 'record', 'keeper')),
    series_id  INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    PRIMARY KEY (folded, kind, season, year, country)
);

INSERT INTO series_aliases (folded, kind, season, name, series_id)
SELECT folded, kind, season, name, series_id FROM earlier_aliases;

DROP TABLE earlier_aliases;

CREATE INDEX ix_series_aliases_series ON series_aliases (series_id);
CREATE INDEX ix_series_aliases_romaji ON series_aliases (romaji) WHERE romaji IS NOT NULL;

-- A question: what releases that say the same are about.
CREATE TABLE identity_questions (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    asked_of   TEXT    NOT NULL,
    reading    TEXT    NOT NULL,
    candidates TEXT    NOT NULL DEFAULT '[]',
    status     TEXT    NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'dismissed', 'answered')),
    series_id  INTEGER REFERENCES series (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_identity_questions_asked ON identity_questions (asked_of) WHERE status <> 'answered';
CREATE INDEX ix_identity_questions_status ON identity_questions (status, id);

-- What a person, or a certain join, changed: enough to say it and to undo it.
CREATE TABLE corrections (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL CHECK (kind IN ('merge', 'split', 'move', 'release', 'change', 'answer')),
    series_id  INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    other_id   INTEGER REFERENCES series (id) ON DELETE CASCADE,
    made_by    TEXT    NOT NULL CHECK (made_by IN ('keeper', 'titles')),
    facts      TEXT    NOT NULL DEFAULT '{}',
    changes    TEXT    NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    undone_at  INTEGER
);

CREATE INDEX ix_corrections_series ON corrections (series_id, id);
CREATE INDEX ix_corrections_other ON corrections (other_id, id) WHERE other_id IS NOT NULL;

-- A person's word on what releases with a name are about. Of several the last counts; undoing its correction takes it away.
CREATE TABLE identity_rulings (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    folded        TEXT    NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    season        INTEGER NOT NULL,
    year          INTEGER NOT NULL,
    country       TEXT    NOT NULL,
    group_folded  TEXT,
    series_id     INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    correction_id INTEGER NOT NULL REFERENCES corrections (id) ON DELETE CASCADE
);

CREATE INDEX ix_identity_rulings_folded ON identity_rulings (folded);
CREATE INDEX ix_identity_rulings_series ON identity_rulings (series_id);
CREATE INDEX ix_identity_rulings_correction ON identity_rulings (correction_id);

-- What spoke for the series of a link; the question that holds it; why it is held; whether a person released it,
-- and whether one said where it belongs, so that reading it again leaves it there.
ALTER TABLE anime_links ADD COLUMN clues TEXT NOT NULL DEFAULT '[]';
ALTER TABLE anime_links ADD COLUMN question_id INTEGER REFERENCES identity_questions (id) ON DELETE SET NULL;
ALTER TABLE anime_links ADD COLUMN held_why TEXT;
ALTER TABLE anime_links ADD COLUMN is_released INTEGER NOT NULL DEFAULT 0 CHECK (is_released IN (0, 1));
ALTER TABLE anime_links ADD COLUMN is_fixed INTEGER NOT NULL DEFAULT 0 CHECK (is_fixed IN (0, 1));

DROP INDEX ix_anime_links_held;
ALTER TABLE anime_links ADD COLUMN held TEXT
    CHECK (held IN ('no_episode', 'series_asked', 'series_ignored', 'in_doubt', 'doubtful_reading',
        'read_again'));
UPDATE anime_links SET held = held_reason WHERE held_reason IS NOT NULL;
ALTER TABLE anime_links DROP COLUMN held_reason;
ALTER TABLE anime_links RENAME COLUMN held TO held_reason;

CREATE INDEX ix_anime_links_held ON anime_links (id) WHERE held_reason IS NOT NULL;
CREATE INDEX ix_anime_links_question ON anime_links (question_id) WHERE question_id IS NOT NULL;
