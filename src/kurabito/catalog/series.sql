-- name: page
SELECT {series} FROM series WHERE {beyond} AND merged_into IS NULL {filter} ORDER BY {order} LIMIT :limit;

-- name: first_of
SELECT {series} FROM series WHERE id {among ids} ORDER BY {order} LIMIT :limit;

-- name: several
SELECT {series} FROM series WHERE id {among ids};

-- name: get
SELECT {series} FROM series WHERE id = :id;

-- name: aliases
SELECT alias.series_id, alias.name, alias.season, alias.year, alias.country, alias.source
FROM {given} JOIN series_aliases AS alias ON alias.series_id = CAST(given.value ->> 'id' AS bigint)
ORDER BY alias.series_id, alias.season, alias.name, alias.year, alias.country;

-- name: want
UPDATE series
SET state = :state, wanted = coalesce(CAST(:wanted AS text), wanted), library_id = CAST(:library_id AS bigint),
    wanted_since = CASE WHEN :begins = 1 THEN :now ELSE wanted_since END, updated_at = :now
WHERE id = :id;

-- name: ids
SELECT id FROM series WHERE merged_into IS NULL {filter} ORDER BY id;

-- name: hold
UPDATE anime_links SET held_reason = :held_reason
WHERE series_id = :id AND is_released = 0
    AND (held_reason IS NULL OR held_reason IN ('series_asked', 'series_ignored'));

-- name: release
UPDATE anime_links SET held_reason = NULL
WHERE series_id = :id AND held_reason IN ('series_asked', 'series_ignored')
RETURNING id;

-- name: episodes
SELECT id, kind, number, {shown_state} AS shown, aired_at,
       (SELECT count(*) FROM anime_links AS link WHERE link.episode_id = episodes.id) AS links
FROM episodes
WHERE series_id = :id AND (kind < :kind OR (kind = :kind AND number > CAST(:number AS double precision)))
ORDER BY kind DESC, number LIMIT :limit;
