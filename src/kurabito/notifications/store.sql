-- name: add
INSERT INTO notification_destinations
    (kind, name, url, token, kinds, language, quiet_from, quiet_to, is_enabled, created_at, updated_at)
VALUES (:kind, :name, :url, :token, :kinds, :language, :quiet_from, :quiet_to, :is_enabled, :now, :now)
RETURNING id;

-- name: by_name
SELECT id FROM notification_destinations WHERE name = :name;

-- name: everything
SELECT {destination} FROM notification_destinations ORDER BY id;

-- name: get
SELECT {destination} FROM notification_destinations WHERE id = :id;

-- name: change
UPDATE notification_destinations
SET kind = :kind, name = :name, url = :url, token = :token, kinds = :kinds, language = :language, quiet_from = :quiet_from,
    quiet_to = :quiet_to, is_enabled = :is_enabled, updated_at = :now
WHERE id = :id;

-- name: remove
DELETE FROM notification_destinations WHERE id = :id;

-- name: note_success
UPDATE notification_destinations
SET failures = 0, error_code = NULL, error_message = NULL, last_success_at = :now WHERE id = :id;

-- name: note_failure
UPDATE notification_destinations
SET failures = failures + 1, error_code = :error_code, error_message = :error_message, last_failure_at = :now WHERE id = :id;

-- name: put
INSERT INTO notification_outbox (destination_id, kind, code, facts, noted_at) VALUES (:id, :kind, :code, :facts, :now);

-- name: waiting
SELECT id, kind, code, facts, noted_at FROM notification_outbox WHERE destination_id = :id ORDER BY id LIMIT :limit;

-- name: with_waiting
SELECT DISTINCT destination_id FROM notification_outbox ORDER BY destination_id;

-- name: forget
DELETE FROM notification_outbox WHERE destination_id = :id AND id <= :newest;

-- name: forget_all
DELETE FROM notification_outbox WHERE destination_id = :id;

-- name: retrying
SELECT id FROM notification_deliveries WHERE destination_id = :id AND status = 'retrying' ORDER BY id DESC LIMIT 1;

-- name: begin
INSERT INTO notification_deliveries (destination_id, title, body, status, attempts, created_at)
VALUES (:id, :title, :body, 'retrying', 1, :now)
RETURNING id;

-- name: try_again
UPDATE notification_deliveries SET title = :title, body = :body, attempts = attempts + 1 WHERE id = :delivery;

-- name: settle
UPDATE notification_deliveries
SET status = :status, error_code = :error_code, error_message = :error_message,
    ended_at = CASE WHEN :status = 'retrying' THEN NULL ELSE :now END
WHERE id = :delivery;

-- name: history
SELECT {delivery} FROM notification_deliveries WHERE destination_id = :id ORDER BY id DESC LIMIT :limit;

-- name: prune
DELETE FROM notification_deliveries
WHERE destination_id = :id
    AND id <= (SELECT id FROM notification_deliveries WHERE destination_id = :id ORDER BY id DESC LIMIT 1 OFFSET :keep);

-- name: arrived
-- What lay in a library before, and what was only given another name, is no arrival.
SELECT DISTINCT episodes.series_id, series.season, episodes.kind, episodes.number
FROM placement_episodes AS of_placement
JOIN placements AS placement ON placement.id = of_placement.placement_id
JOIN episodes ON episodes.id = of_placement.episode_id
JOIN series ON series.id = episodes.series_id
WHERE of_placement.placement_id {among ids} AND placement.method <> 'found' AND placement.mode <> 'rename'
    AND placement.is_placed = 0
ORDER BY episodes.series_id, episodes.kind, episodes.number;

-- name: known
SELECT subject, size FROM notified_subjects;

-- name: know
INSERT INTO notified_subjects (subject, size, noted_at) VALUES (:subject, :size, :now)
ON CONFLICT (subject) DO UPDATE SET size = excluded.size;

-- name: forget_subjects
DELETE FROM notified_subjects WHERE subject {among subjects};
