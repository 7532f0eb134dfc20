-- name: followed
SELECT id, series_id, new_series, start_with, created_at, last_success_at FROM subscriptions WHERE id = :id;

-- name: note_success
UPDATE subscriptions
SET last_fetched_at = :now, last_success_at = :now, failures = 0, error_code = NULL, error_message = NULL, updated_at = :now
WHERE id = :id;

-- name: note_failure
UPDATE subscriptions
SET last_fetched_at = :now, failures = failures + 1, error_code = :error_code, error_message = :error_message,
    updated_at = :now
WHERE id = :id;
