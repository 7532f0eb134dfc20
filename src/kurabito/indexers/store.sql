-- name: add
INSERT INTO indexers (kind, name, site, url, api_key, categories, min_seeders, priority, per_hour, is_enabled, allows_private,
                      proxy, seed_ratio, seed_minutes, created_at, updated_at)
VALUES (:kind, :name, :site, :url, :api_key, :categories, :min_seeders, :priority, :per_hour, :is_enabled, :allows_private,
        :proxy, :seed_ratio, :seed_minutes, :now, :now)
RETURNING id;

-- name: get
SELECT {indexer} FROM indexers WHERE id = :id;

-- name: by_name
SELECT id FROM indexers WHERE name = :name;

-- name: everything
SELECT {indexer} FROM indexers ORDER BY priority DESC, id;

-- name: change
UPDATE indexers
SET name = :name, url = :url, api_key = :api_key, categories = :categories, min_seeders = :min_seeders, priority = :priority,
    per_hour = :per_hour, is_enabled = :is_enabled, allows_private = :allows_private, proxy = :proxy,
    seed_ratio = :seed_ratio, seed_minutes = :seed_minutes, updated_at = :now
WHERE id = :id;

-- name: restart
-- Another address or key: what was known of the old one says nothing any more.
UPDATE indexers SET failures = 0, error_code = NULL, error_message = NULL, rests_until = NULL WHERE id = :id;

-- name: remove
DELETE FROM indexers WHERE id = :id;

-- name: hold
-- Two requests at once count one after the other.
UPDATE indexers SET updated_at = updated_at WHERE id = :id;

-- name: count_recent
SELECT count(*) FROM indexer_requests WHERE indexer_id = :id AND asked_at > :now - CAST(:window AS bigint);

-- name: add_request
INSERT INTO indexer_requests (indexer_id, asked_at) VALUES (:id, :now);

-- name: forget_requests
DELETE FROM indexer_requests WHERE indexer_id = :id AND asked_at <= :now - CAST(:window AS bigint);

-- name: add_query
INSERT INTO indexer_queries (indexer_id, query, asked_at) VALUES (:id, :query, :now) RETURNING id;

-- name: forget_queries
DELETE FROM indexer_queries WHERE indexer_id = :id AND id NOT IN (
    SELECT id FROM indexer_queries WHERE indexer_id = :id ORDER BY id DESC LIMIT :kept);

-- name: answer_query
UPDATE indexer_queries SET results = :results, error_code = :error_code WHERE id = :query_id;

-- name: queries
SELECT {query} FROM indexer_queries WHERE indexer_id = :id ORDER BY id DESC LIMIT :limit;

-- name: note_success
UPDATE indexers
SET failures = 0, error_code = NULL, error_message = NULL, rests_until = NULL, last_success_at = :now
WHERE id = :id;

-- name: note_failure
UPDATE indexers
SET failures = failures + 1, error_code = :error_code, error_message = :error_message, last_failure_at = :now,
    rests_until = :now + CAST(:rest AS bigint)
WHERE id = :id;
