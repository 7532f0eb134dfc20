-- name: insert
INSERT INTO jobs (id, kind, status, library_id, task_id, created_at, updated_at)
VALUES (:id, :kind, 'pending', :library_id, :task_id, :now, :now);

-- name: get
SELECT {job} FROM jobs WHERE id = :id;

-- name: of_task
SELECT {job} FROM jobs WHERE task_id = :task_id ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: code_before
SELECT error_code FROM jobs WHERE task_id = :task_id AND id <> :id ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: note_code
UPDATE jobs SET error_code = :error_code, error_message = :error_message, updated_at = :now WHERE id = :id;

-- name: active
-- Each arm is an index that holds just its rows. Asked for an order, SQLite would walk through every job there ever was.
SELECT {job} FROM jobs WHERE status = 'pending'
UNION ALL
SELECT {job} FROM jobs WHERE status = 'running'
UNION ALL
SELECT {job} FROM jobs WHERE status = 'retryable';

-- name: first_page
SELECT {job} FROM jobs
WHERE (CAST(:status AS text) IS NULL OR status = :status) AND (CAST(:kind AS text) IS NULL OR kind = :kind)
  AND (CAST(:library_id AS bigint) IS NULL OR library_id = :library_id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: created_at
SELECT created_at FROM jobs WHERE id = :id;

-- name: next_page
SELECT {job} FROM jobs
WHERE (created_at, id) < (:created_at, :id)
  AND (CAST(:status AS text) IS NULL OR status = :status) AND (CAST(:kind AS text) IS NULL OR kind = :kind)
  AND (CAST(:library_id AS bigint) IS NULL OR library_id = :library_id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: cancel
UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL, finished_at = :now, updated_at = :now
WHERE id = :id AND status IN ('pending', 'running', 'retryable');

-- name: give_way
UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL, finished_at = :now, updated_at = :now,
    error_code = :error_code, error_message = :error_message
WHERE id = :id AND status IN ('pending', 'running');

-- name: give_back
UPDATE jobs
SET status = 'pending', lost_leases = :lost_leases, error_code = NULL, error_message = NULL, updated_at = :now
WHERE id = :id AND status = 'retryable';

-- name: fail
UPDATE jobs
SET status = 'failed', lost_leases = :lost_leases, error_code = :error_code, error_message = :error_message,
    finished_at = :now, updated_at = :now
WHERE id = :id AND status = 'retryable';

-- name: reset
UPDATE jobs
SET status = 'pending', task_id = :task_id, lost_leases = 0, processed_items = 0, progress = 0, error_code = NULL,
    error_message = NULL, worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, started_at = NULL,
    finished_at = NULL, updated_at = :now
WHERE id = :id AND status IN ('retryable', 'failed', 'cancelled');
