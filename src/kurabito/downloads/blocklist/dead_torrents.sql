-- name: dead
-- Like what has stalled, for much longer.
SELECT id, CASE WHEN coalesce(detail, '') = 'metadata' THEN 1 ELSE 0 END FROM downloads
WHERE status = 'downloading' AND coalesce(owner, '') <> 'user' AND progressed_at < :now - CAST(:age AS bigint) AND coalesce(peers, 0) = 0
    AND coalesce(detail, '') NOT IN ('paused', 'queued', 'no_slot', 'checking', 'no_room', 'unwritable', 'moving')
    AND coalesce(detail, '') NOT LIKE 'queued:%' AND coalesce(detail, '') NOT LIKE 'no_room%';

-- name: fail
UPDATE downloads SET status = 'failed', reason = :reason, rate = NULL, peers = NULL, updated_at = :now
WHERE status = 'downloading' AND id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING id;
