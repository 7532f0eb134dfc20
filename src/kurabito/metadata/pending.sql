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

-- name: count_work
-- A record that lacks several things is one.
SELECT count(*) FROM (
    SELECT id FROM {with_remote_poster} WHERE {has_remote_poster}
    UNION
    SELECT id FROM {without_tmdb}
    WHERE {lacks_tmdb} AND (tmdb_lookup_at IS NULL OR tmdb_lookup_at < :now - :cool_down) AND :ids = 1
    UNION
    SELECT id FROM {western}
    WHERE {is_western} AND (tmdb_lookup_at IS NULL OR tmdb_lookup_at < :now - :cool_down) AND :ids = 1
    UNION
    SELECT id FROM {without_poster}
    WHERE {lacks_poster} AND {poster_can_be_asked}
      AND (poster_lookup_at IS NULL OR poster_lookup_at < :now - :cool_down)) AS waiting;

-- name: ask_for_poster
UPDATE metadata SET poster_url = :url, updated_at = :now WHERE id = :id AND (poster_url IS NULL OR poster_url <> :url);

-- name: keep_poster
-- A poster that the record was given meanwhile stays.
UPDATE metadata SET poster_url = :path, updated_at = :now WHERE id = :id AND poster_url = :url;

-- name: keep_poster_lookup
UPDATE metadata SET poster_lookup_at = :now, poster_url = CAST(:url AS text), updated_at = :now
WHERE id = :id AND (poster_url IS NULL OR poster_url = '');

-- name: keep_lookup
UPDATE metadata
SET tmdb_lookup_at = :now, tmdb_candidates = :candidates, tmdb_id = coalesce(tmdb_id, :tmdb_id),
    tmdb_kind = CASE WHEN tmdb_id IS NULL THEN :tmdb_kind ELSE tmdb_kind END,
    tmdb_season = CASE WHEN tmdb_id IS NULL THEN :tmdb_season ELSE tmdb_season END,
    poster_url = coalesce(poster_url, :poster_url), updated_at = :now
WHERE id = :id AND coalesce(title_japanese, title_english) = :title;

-- name: keep_ids
-- What a record knows already stays, and an id of bgm.tv is given to one record only.
UPDATE metadata
SET bgm_id = CASE WHEN EXISTS (SELECT 1 FROM metadata AS other WHERE other.bgm_id = CAST(given.value ->> 'bgm_id' AS bigint))
                  THEN metadata.bgm_id
                  ELSE coalesce(metadata.bgm_id, CAST(given.value ->> 'bgm_id' AS bigint)) END,
    anidb_id = coalesce(metadata.anidb_id, CAST(given.value ->> 'anidb_id' AS bigint)),
    anilist_id = coalesce(metadata.anilist_id, CAST(given.value ->> 'anilist_id' AS bigint)),
    mal_id = coalesce(metadata.mal_id, CAST(given.value ->> 'mal_id' AS bigint)),
    mikan_id = coalesce(metadata.mikan_id, CAST(given.value ->> 'mikan_id' AS bigint)),
    tmdb_id = coalesce(metadata.tmdb_id, CAST(given.value ->> 'tmdb_id' AS bigint)),
    tmdb_kind = CASE WHEN metadata.tmdb_id IS NULL THEN given.value ->> 'tmdb_kind' ELSE metadata.tmdb_kind END,
    tmdb_season = CASE WHEN metadata.tmdb_id IS NULL THEN CAST(given.value ->> 'tmdb_season' AS integer)
                       ELSE metadata.tmdb_season END,
    tmdb_lookup_at = CASE WHEN given.value ->> 'tmdb_id' IS NULL THEN metadata.tmdb_lookup_at ELSE :now END,
    tmdb_candidates = CASE WHEN given.value ->> 'tmdb_id' IS NULL THEN metadata.tmdb_candidates ELSE '[]' END,
    updated_at = :now
FROM {given}
WHERE metadata.id = CAST(given.value ->> 'id' AS bigint)
  AND coalesce(metadata.title_japanese, '') = coalesce(given.value ->> 'title_japanese', '');
