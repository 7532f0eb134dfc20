-- How a library names the files that are put into it; a library without a row names them as Jellyfin reads them. A data plane
-- is told each name, so that it has no right to read this.
CREATE TABLE library_naming (
    library_id     INTEGER NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    series_folder  TEXT    NOT NULL,
    season_folder  TEXT    NOT NULL,
    episode_file   TEXT    NOT NULL,
    film_folder    TEXT    NOT NULL,
    film_file      TEXT    NOT NULL,
    numbering      TEXT    NOT NULL CHECK (numbering IN ('tmdb', 'entry', 'absolute')),
    subtitle_style TEXT    NOT NULL CHECK (subtitle_style IN ('current', 'portable')),
    extras         TEXT    NOT NULL CHECK (extras IN ('folder', 'leave')),
    changed_at     INTEGER NOT NULL
);
