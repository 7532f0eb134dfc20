-- name: of_entry
SELECT franchise_id FROM offline_entries WHERE id = :entry_id;

-- name: of_bgm
SELECT id, franchise_id FROM offline_entries WHERE bgm_id = :bgm_id ORDER BY id LIMIT 1;

-- name: of_anidb
SELECT id, franchise_id FROM offline_entries WHERE anidb_id = :anidb_id ORDER BY id LIMIT 1;

-- name: of_mal
SELECT id, franchise_id FROM offline_entries WHERE mal_id = :mal_id ORDER BY id LIMIT 1;

-- name: of_tmdb
SELECT id, franchise_id FROM offline_entries
WHERE tmdb_id = :tmdb_id AND tmdb_kind = :tmdb_kind AND coalesce(tmdb_season, 1) = coalesce(:tmdb_season, 1)
ORDER BY air_date, id LIMIT 1;

-- name: entries
SELECT {entry} FROM offline_entries
WHERE id = :entry_id OR franchise_id = :franchise_id
ORDER BY coalesce(air_date, CAST(year AS text) || '-99', '9999'), id;

-- name: offsets
SELECT offline_offsets.entry_id, offline_offsets.source, offline_offsets.season, offline_offsets.first
FROM offline_offsets
WHERE entry_id IN (SELECT id FROM offline_entries WHERE id = :entry_id OR franchise_id = :franchise_id)
ORDER BY entry_id, source;
