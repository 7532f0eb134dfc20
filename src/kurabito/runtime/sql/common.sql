-- name: tell
INSERT INTO task_events (at, name, facts) VALUES (:now, :name, :facts) RETURNING at;

-- name: due_in
SELECT min(next_run_at) - :now FROM tasks WHERE state = 'retry_scheduled';

-- name: held
SELECT {claim} FROM tasks WHERE id = :id AND state = 'running' AND worker_id = :owner;

-- name: depths
-- The listing index has all of it but the moment, which the first of each group tells.
SELECT counted.task_type, counted.state, counted.count, tasks.created_at
FROM (SELECT task_type, state, count(*) AS count, min(seq) AS seq FROM tasks GROUP BY task_type, state) AS counted
JOIN tasks ON tasks.seq = counted.seq
ORDER BY counted.task_type, counted.state;

-- name: cancel
UPDATE tasks
SET state = 'cancelled', finished_at = :now, updated_at = :now, next_run_at = NULL, lease_expires_at = NULL
WHERE seq = :seq;

-- name: retry
UPDATE tasks
SET state = 'queued', attempts = 0, lost_leases = 0, next_run_at = NULL, started_at = NULL, finished_at = NULL,
    result = NULL, progress_done = NULL, progress_total = NULL,
    worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, updated_at = :now
WHERE seq = :seq;

-- name: living_types
SELECT task_types FROM task_workers WHERE expires_at > :now;

-- name: living_workers
SELECT name, task_types, concurrency, started_at, heartbeat_at FROM task_workers WHERE expires_at > :now ORDER BY name;

-- name: announce
INSERT INTO task_workers (name, task_types, concurrency, started_at, heartbeat_at, expires_at)
VALUES (:name, :task_types, :concurrency, :now, :now, :now + CAST(:lease AS bigint))
ON CONFLICT (name) DO UPDATE
SET task_types = excluded.task_types, concurrency = excluded.concurrency,
    heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at;

-- name: depart
DELETE FROM task_workers WHERE name = :name;

-- name: forget_workers
DELETE FROM task_workers WHERE expires_at <= :now - CAST(:age AS bigint);

-- name: trim_events
DELETE FROM task_events WHERE at <= :now - CAST(:age AS bigint);

-- name: note_schedule
INSERT INTO task_schedules (name, last_tick) VALUES (:name, :tick) ON CONFLICT (name) DO NOTHING;

-- name: take_tick
UPDATE task_schedules SET last_tick = :tick WHERE name = :name AND last_tick < :tick;

-- name: correct_tick
UPDATE task_schedules SET last_tick = :tick WHERE name = :name AND last_tick > :next_tick;

-- name: active_by_key
SELECT {record} FROM tasks WHERE unique_key = :unique_key AND unique_key IS NOT NULL AND finished_at IS NULL;

-- name: start
UPDATE tasks
SET state = 'running', leased = 0, attempts = attempts + 1, started_at = :now, updated_at = :now, worker_id = :owner,
    worker_heartbeat_at = NULL, lease_expires_at = NULL
WHERE seq = :seq;

-- name: report
UPDATE tasks SET progress_done = :done, progress_total = :total, updated_at = :now WHERE seq = :seq;

-- name: delegated
SELECT {record} FROM tasks WHERE task_type = :task_type AND state = 'running' AND leased = 0 ORDER BY seq;

-- name: delegated_owner
SELECT worker_id FROM tasks WHERE id = :id AND state = 'running' AND leased = 0;

-- name: old
SELECT 1 FROM tasks
WHERE finished_at IS NOT NULL AND finished_at <= :now - CAST(:age AS bigint) AND task_type = :task_type LIMIT 1;

-- name: forget
DELETE FROM tasks
WHERE finished_at IS NOT NULL AND finished_at <= :now - CAST(:age AS bigint) AND task_type = :task_type;
