-- name: insert
INSERT INTO subscriptions (name, url, module_id, series_id, new_series, start_with, chosen, fetch_interval, is_enabled,
                           allows_private, conflict_policy, upgrade, wait_minutes, preferences, next_fetch_at, created_at,
                           updated_at)
VALUES (:name, :url, :module_id, :series_id, :new_series, :start_with, :chosen, :fetch_interval, :is_enabled,
        :allows_private, :conflict_policy, :upgrade, :wait_minutes, :preferences, :now + CAST(:fetch_interval AS bigint), :now,
        :now)
RETURNING id;

-- name: get
SELECT {subscription} FROM subscriptions WHERE id = :id;

-- name: page
SELECT {subscription} FROM subscriptions WHERE id > :after ORDER BY id LIMIT :limit;

-- name: by_url
SELECT id FROM subscriptions WHERE url = :url;

-- name: series
SELECT id FROM series WHERE id = :id;

-- name: fetcher
SELECT module_id FROM service_modules WHERE module_id = :id AND service_type = 'fetcher';

-- name: update
UPDATE subscriptions
SET name = :name, url = :url, module_id = :module_id, series_id = :series_id, new_series = :new_series,
    fetch_interval = :fetch_interval, is_enabled = :is_enabled, allows_private = :allows_private,
    conflict_policy = :conflict_policy, upgrade = :upgrade, wait_minutes = :wait_minutes, preferences = :preferences,
    updated_at = :now
WHERE id = :id;

-- name: restart
-- Another place, another interval, or allowed at last: what was known of the old one says nothing any more.
UPDATE subscriptions
SET etag = NULL, last_modified = NULL, failures = 0, error_code = NULL, error_message = NULL, next_fetch_at = :now
WHERE id = :id;

-- name: delete
DELETE FROM subscriptions WHERE id = :id;

-- name: due
SELECT id FROM subscriptions WHERE is_enabled = 1 AND next_fetch_at <= :now ORDER BY next_fetch_at LIMIT 1;

-- name: claim_due
UPDATE subscriptions SET next_fetch_at = :now + {wait} WHERE is_enabled = 1 AND next_fetch_at <= :now RETURNING id;

-- name: schedule_next
UPDATE subscriptions
SET next_fetch_at = CASE WHEN :now + {wait} < :now + CAST(:at_least AS bigint) THEN :now + CAST(:at_least AS bigint)
                         ELSE :now + {wait} END
WHERE id = :id;

-- name: postpone
UPDATE subscriptions SET next_fetch_at = :now + CAST(:at_least AS bigint)
WHERE id = :id AND next_fetch_at < :now + CAST(:at_least AS bigint);

-- name: record_reading
-- What was read from another URL meanwhile says nothing about this one.
UPDATE subscriptions
SET etag = :etag, last_modified = :last_modified, last_fetched_at = :now, last_success_at = :now, failures = 0,
    error_code = :error_code, error_message = :error_message
WHERE id = :id AND url = :url;

-- name: record_success
UPDATE subscriptions
SET last_fetched_at = :now, last_success_at = :now, failures = 0, error_code = NULL, error_message = NULL, updated_at = :now
WHERE id = :id;

-- name: record_failure
UPDATE subscriptions
SET last_fetched_at = :now, failures = failures + CAST(:counted AS integer), error_code = :error_code, error_message = :error_message,
    updated_at = :now
WHERE id = :id;

-- name: follow_for
UPDATE subscriptions SET show_id = :show_id WHERE id = :id;

-- name: of_shows
-- Feeds of one show that are read, or that are not because the show was finished; one that its keeper resumed is left alone.
SELECT id, coalesce(show_id, series_id), is_enabled FROM subscriptions
WHERE coalesce(show_id, series_id) IS NOT NULL
    AND ((is_enabled = 1 AND finished_at IS NULL) OR (is_enabled = 0 AND finished_at IS NOT NULL))
ORDER BY id;

-- name: finish
UPDATE subscriptions SET is_enabled = 0, finished_at = :now, updated_at = :now WHERE id = :id AND is_enabled = 1;

-- name: resume
UPDATE subscriptions SET is_enabled = 1, finished_at = NULL, next_fetch_at = :now, updated_at = :now
WHERE id = :id AND is_enabled = 0;
