-- name: unfinished
SELECT id FROM relinks WHERE cause = :cause AND finished_at IS NULL ORDER BY id LIMIT 1;

-- name: add
INSERT INTO relinks (cause, started_at) VALUES (:cause, :now) RETURNING id;

-- name: note_moved
-- A link that a crash had read twice in one run keeps where it was at first.
INSERT INTO relinked_links (relink_id, link_id, from_series, from_number, to_series, to_number)
SELECT :relink_id, CAST(given.value ->> 'link_id' AS bigint), CAST(given.value ->> 'from_series' AS bigint),
       CAST(given.value ->> 'from_number' AS double precision), CAST(given.value ->> 'to_series' AS bigint),
       CAST(given.value ->> 'to_number' AS double precision)
FROM {given} WHERE true
ON CONFLICT (relink_id, link_id) DO UPDATE SET to_series = excluded.to_series, to_number = excluded.to_number;

-- name: finish
UPDATE relinks
SET links_read = :read, finished_at = :now,
    links_moved = (SELECT count(*) FROM relinked_links AS moved WHERE moved.relink_id = relinks.id),
    links_held = (SELECT count(*) FROM relinked_links AS moved JOIN anime_links AS link ON link.id = moved.link_id
                  WHERE moved.relink_id = relinks.id AND link.held_reason = 'read_again')
WHERE id = :id;

-- name: forget_empty
DELETE FROM relinks WHERE id = :id AND links_moved = 0;

-- name: forget_old
DELETE FROM relinks WHERE finished_at IS NOT NULL AND id NOT IN (SELECT id FROM relinks ORDER BY id DESC LIMIT :kept);

-- name: page
SELECT {relink} FROM relinks WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: get
SELECT {relink} FROM relinks WHERE id = :id;

-- name: moved
SELECT moved.link_id, link.title, moved.from_series, before.title, before.season, moved.from_number, moved.to_series, now.title,
       now.season, moved.to_number, link.held_reason
FROM relinked_links AS moved JOIN anime_links AS link ON link.id = moved.link_id
JOIN series AS before ON before.id = moved.from_series JOIN series AS now ON now.id = moved.to_series
WHERE moved.relink_id = :id AND moved.link_id < :before
ORDER BY moved.link_id DESC LIMIT :limit;
