-- name: insert
INSERT INTO metadata (kind, title_japanese, title_chinese, title_english, year, season, air_date, air_weekday, episode_count,
                      summary, poster_url, bgm_id, tmdb_id, tmdb_kind, tmdb_season, anidb_id, anilist_id, mal_id, mikan_id,
                      created_at, updated_at)
VALUES (:kind, :title_japanese, :title_chinese, :title_english, :year, :season, :air_date, :air_weekday, :episode_count,
        :summary, :poster_url, :bgm_id, :tmdb_id, :tmdb_kind, :tmdb_season, :anidb_id, :anilist_id, :mal_id, :mikan_id,
        :now, :now)
RETURNING id;

-- name: get
SELECT {record} FROM metadata WHERE id = :id;

-- name: of_bgm
SELECT {record} FROM metadata WHERE bgm_id = :bgm_id;

-- name: page
SELECT {record} FROM metadata
WHERE id > :after
  AND (CAST(:contains AS text) IS NULL
       OR lower(title_japanese) LIKE lower(:contains) ESCAPE '\'
       OR lower(title_chinese) LIKE lower(:contains) ESCAPE '\'
       OR lower(title_english) LIKE lower(:contains) ESCAPE '\')
  AND (CAST(:year AS integer) IS NULL OR year = :year)
ORDER BY id LIMIT :limit;

-- name: update
UPDATE metadata
SET kind = :kind, title_japanese = :title_japanese, title_chinese = :title_chinese, title_english = :title_english,
    year = :year, season = :season, air_date = :air_date, air_weekday = :air_weekday, episode_count = :episode_count,
    summary = :summary, poster_url = :poster_url, bgm_id = :bgm_id, tmdb_id = :tmdb_id, tmdb_kind = :tmdb_kind,
    tmdb_season = :tmdb_season, anidb_id = :anidb_id, anilist_id = :anilist_id, mal_id = :mal_id, mikan_id = :mikan_id,
    updated_at = :now
WHERE id = :id;

-- name: forget_lookup
UPDATE metadata SET tmdb_lookup_at = NULL, tmdb_candidates = '[]', poster_lookup_at = NULL WHERE id = :id;

-- name: leave_calendar
DELETE FROM calendar_entries WHERE metadata_id = :id;

-- name: delete
DELETE FROM metadata WHERE id = :id;

-- name: several
SELECT {record} FROM metadata WHERE id IN (SELECT CAST(given.value ->> 'id' AS bigint) FROM {given});

-- name: forget_titles
DELETE FROM metadata_titles WHERE metadata_id = :id;

-- name: add_titles
INSERT INTO metadata_titles (folded, metadata_id)
SELECT given.value ->> 'folded', CAST(given.value ->> 'id' AS bigint) FROM {given} WHERE true
ON CONFLICT (folded, metadata_id) DO NOTHING;

-- name: named
SELECT metadata_titles.folded, {own_record}
FROM {given} CROSS JOIN metadata_titles JOIN metadata ON metadata.id = metadata_titles.metadata_id
WHERE metadata_titles.folded = given.value ->> 'folded'
ORDER BY metadata.id;

-- name: insert_all
INSERT INTO metadata (kind, title_japanese, title_chinese, title_english, year, season, air_date, air_weekday, episode_count,
                      summary, poster_url, bgm_id, tmdb_id, tmdb_kind, tmdb_season, anidb_id, anilist_id, mal_id, mikan_id,
                      created_at, updated_at)
SELECT given.value ->> 'kind', given.value ->> 'title_japanese', given.value ->> 'title_chinese',
       given.value ->> 'title_english', CAST(given.value ->> 'year' AS integer), CAST(given.value ->> 'season' AS integer),
       given.value ->> 'air_date', CAST(given.value ->> 'air_weekday' AS integer),
       CAST(given.value ->> 'episode_count' AS integer), given.value ->> 'summary', given.value ->> 'poster_url',
       CAST(given.value ->> 'bgm_id' AS bigint), CAST(given.value ->> 'tmdb_id' AS bigint), given.value ->> 'tmdb_kind',
       CAST(given.value ->> 'tmdb_season' AS integer), CAST(given.value ->> 'anidb_id' AS bigint),
       CAST(given.value ->> 'anilist_id' AS bigint), CAST(given.value ->> 'mal_id' AS bigint),
       CAST(given.value ->> 'mikan_id' AS bigint), :now, :now
FROM {given} WHERE true
ORDER BY CAST(given.value ->> 'place' AS integer)
RETURNING id;

-- name: of_bgms
SELECT {record} FROM metadata WHERE bgm_id IN (SELECT CAST(given.value ->> 'id' AS bigint) FROM {given});

-- name: of_shows
SELECT {record} FROM metadata
WHERE tmdb_id IN (SELECT CAST(given.value ->> 'id' AS bigint) FROM {given}) AND tmdb_kind = 'tv' ORDER BY id;

-- name: of_tmdb
SELECT {record} FROM metadata
WHERE tmdb_id = :tmdb_id AND tmdb_kind = :tmdb_kind AND coalesce(tmdb_season, 1) = coalesce(:tmdb_season, 1)
ORDER BY id LIMIT 1;
