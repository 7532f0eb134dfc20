-- name: reserve
UPDATE io_rate_limits
SET next_available_at_ms = {greatest}(next_available_at_ms, :now / 1000) + CAST(:cost AS bigint), updated_at = :now
WHERE bucket_key = :bucket
RETURNING next_available_at_ms;

-- name: warm_up
INSERT INTO io_rate_limits (bucket_key, next_available_at_ms, created_at, updated_at) VALUES (:bucket, 0, :now, :now)
ON CONFLICT DO NOTHING;
