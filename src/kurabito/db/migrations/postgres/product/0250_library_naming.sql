-- How a library names the files that are put into it; a library without a row names them as Jellyfin reads them. A data plane
-- is told each name, so that it has no right to read this.
CREATE TABLE library_naming (
    library_id     bigint NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    series_folder  text   NOT NULL,
    season_folder  text   NOT NULL,
    episode_file   text   NOT NULL,
    film_folder    text   NOT NULL,
    film_file      text   NOT NULL,
    numbering      text   NOT NULL CHECK (numbering IN ('tmdb', 'entry', 'absolute')),
    subtitle_style text   NOT NULL CHECK (subtitle_style IN ('current', 'portable')),
    extras         text   NOT NULL CHECK (extras IN ('folder', 'leave')),
    changed_at     bigint NOT NULL
);
