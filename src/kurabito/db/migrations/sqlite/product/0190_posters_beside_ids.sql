-- Where a poster is comes from another service than the ids, at its own pace: when it was last asked for.
ALTER TABLE metadata ADD COLUMN poster_lookup_at INTEGER;

CREATE INDEX ix_metadata_without_poster ON metadata (poster_lookup_at, id)
    WHERE (poster_url IS NULL OR poster_url = '') AND (bgm_id IS NOT NULL OR tmdb_id IS NOT NULL);

-- Shows and films from elsewhere have no Japanese title; they are looked up by their English one.
CREATE INDEX ix_metadata_western ON metadata (tmdb_lookup_at, id)
    WHERE tmdb_id IS NULL AND (title_japanese IS NULL OR title_japanese = '') AND title_english <> '';

-- The pages of TMDB's lists that were read today: a restart, or a page that failed, costs no page a second time.
CREATE TABLE tmdb_pages (
    kind    TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    year    INTEGER NOT NULL,
    page    INTEGER NOT NULL,
    pages   INTEGER NOT NULL,
    titles  TEXT    NOT NULL,
    read_at INTEGER NOT NULL,
    PRIMARY KEY (kind, year, page)
);
