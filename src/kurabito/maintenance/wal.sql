-- name: active
SELECT {job} FROM wal_maintenance_jobs WHERE status IN ('pending', 'running', 'retryable');

-- name: latest
SELECT {job} FROM wal_maintenance_jobs ORDER BY id DESC LIMIT 1;

-- name: last_ended
SELECT max(finished_at) FROM wal_maintenance_jobs WHERE status IN ('completed', 'failed');

-- name: insert
INSERT INTO wal_maintenance_jobs (requested_mode, reason, status, execute_after, created_at, updated_at)
VALUES (:mode, :reason, 'pending', :now, :now, :now);

-- name: counts
SELECT status, count(*) FROM wal_maintenance_jobs GROUP BY status;

-- name: last_completed
SELECT max(finished_at) FROM wal_maintenance_jobs WHERE status = 'completed';

-- name: forget_old
DELETE FROM wal_maintenance_jobs
WHERE status IN ('completed', 'failed') AND id <= (SELECT max(id) FROM wal_maintenance_jobs) - :kept;
