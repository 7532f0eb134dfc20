-- name: forget
DELETE FROM calendar_entries;

-- name: add
INSERT INTO calendar_entries (metadata_id, weekday, place, refreshed_at) VALUES (:metadata_id, :weekday, :place, :now);

-- name: week
SELECT calendar_entries.weekday, {record}
FROM calendar_entries JOIN metadata ON metadata.id = calendar_entries.metadata_id
ORDER BY calendar_entries.weekday, calendar_entries.place;

-- name: refreshed_at
SELECT refreshed_at FROM calendar_entries LIMIT 1;

-- name: followed
SELECT metadata.bgm_id, metadata.id, metadata.poster_url
FROM offline_entries JOIN metadata ON metadata.bgm_id = offline_entries.bgm_id
WHERE offline_entries.air_date >= :first AND offline_entries.air_date < :last;
