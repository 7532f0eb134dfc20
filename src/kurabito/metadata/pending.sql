-- name: to_sync
-- Each part reads the beginning of its own stretch of an index, so that nothing to do is seen at once. Lookups of long ago are
-- in the order of their time, not of ids; there are fewer of them with every chunk.
SELECT {record} FROM metadata
WHERE id IN (
    SELECT id FROM (
        SELECT id FROM {with_remote_poster} WHERE {has_remote_poster} AND id > :after ORDER BY id LIMIT :limit) AS posters
    UNION
    SELECT id FROM (
        SELECT id FROM {without_tmdb}
        WHERE {lacks_tmdb} AND tmdb_lookup_at IS NULL AND id > :after AND :ids = 1 ORDER BY id LIMIT :limit) AS never
    UNION
    SELECT id FROM (
        SELECT id FROM {without_tmdb}
        WHERE {lacks_tmdb} AND tmdb_lookup_at < :now - :cool_down AND id > :after AND :ids = 1
        ORDER BY id LIMIT :limit) AS long_ago)
ORDER BY id LIMIT :limit;

-- name: count_to_sync
SELECT count(*) FROM (
    SELECT id FROM {with_remote_poster} WHERE {has_remote_poster}
    UNION
    SELECT id FROM {without_tmdb} WHERE {lacks_tmdb} AND tmdb_lookup_at IS NULL AND :ids = 1
    UNION
    SELECT id FROM {without_tmdb} WHERE {lacks_tmdb} AND tmdb_lookup_at < :now - :cool_down AND :ids = 1) AS waiting;

-- name: ask_for_poster
UPDATE metadata SET poster_url = :url, updated_at = :now WHERE id = :id AND (poster_url IS NULL OR poster_url <> :url);

-- name: keep_poster
-- A poster that the record was given meanwhile stays.
UPDATE metadata SET poster_url = :path, updated_at = :now WHERE id = :id AND poster_url = :url;

-- name: keep_lookup
UPDATE metadata
SET tmdb_lookup_at = :now, tmdb_candidates = :candidates, tmdb_id = coalesce(tmdb_id, :tmdb_id),
    tmdb_kind = CASE WHEN tmdb_id IS NULL THEN :tmdb_kind ELSE tmdb_kind END,
    tmdb_season = CASE WHEN tmdb_id IS NULL THEN :tmdb_season ELSE tmdb_season END,
    poster_url = coalesce(poster_url, :poster_url), updated_at = :now
WHERE id = :id AND title_japanese = :title_japanese;

-- name: keep_ids
-- What a record knows already stays.
UPDATE metadata
SET bgm_id = CASE WHEN EXISTS (SELECT 1 FROM metadata AS other WHERE other.bgm_id = :bgm_id) THEN bgm_id
                  ELSE coalesce(bgm_id, :bgm_id) END,
    anidb_id = coalesce(anidb_id, :anidb_id),
    anilist_id = coalesce(anilist_id, :anilist_id), mal_id = coalesce(mal_id, :mal_id),
    mikan_id = coalesce(mikan_id, :mikan_id), updated_at = :now
WHERE id = :id;
