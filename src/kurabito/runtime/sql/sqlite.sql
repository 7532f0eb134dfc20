-- name: store
INSERT INTO tasks (id, task_type, payload, content_type, state, priority, unique_key, next_run_at, max_attempts,
                   created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: store_keyed
INSERT INTO tasks (id, task_type, payload, content_type, state, priority, unique_key, next_run_at, max_attempts,
                   created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND finished_at IS NULL DO UPDATE
SET priority = CASE WHEN state = 'running' THEN priority ELSE max(priority, excluded.priority) END
RETURNING {record};

-- name: find
SELECT {record} FROM tasks WHERE id = :id;

-- name: find_for_change
SELECT {record} FROM tasks WHERE id = :id;

-- name: counts
-- Each state from an index that holds just its tasks. How many succeeded is what is left: SQLite counts a whole table by
-- its pages.
WITH counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM tasks) AS everything,
           (SELECT count(*) FROM tasks INDEXED BY ix_tasks_ready WHERE state = 'queued') AS queued,
           (SELECT count(*) FROM tasks INDEXED BY ix_tasks_lease WHERE state = 'running') AS running,
           (SELECT count(*) FROM tasks INDEXED BY ix_tasks_due WHERE state = 'retry_scheduled') AS retry_scheduled,
           (SELECT count(*) FROM json_each(:task_types) AS known CROSS JOIN tasks INDEXED BY ix_tasks_listing
            WHERE task_type = known.value AND state = 'dead') AS dead,
           (SELECT count(*) FROM json_each(:task_types) AS known CROSS JOIN tasks INDEXED BY ix_tasks_listing
            WHERE task_type = known.value AND state = 'cancelled') AS cancelled
)
SELECT queued, running, retry_scheduled, everything - queued - running - retry_scheduled - dead - cancelled, dead, cancelled
FROM counted;

-- name: page
SELECT {record} FROM tasks WHERE seq < :before ORDER BY seq DESC LIMIT :limit;

-- name: types
WITH RECURSIVE found (task_type) AS (
    SELECT min(task_type) FROM tasks INDEXED BY ix_tasks_listing
    UNION ALL
    SELECT (SELECT min(t.task_type) FROM tasks AS t INDEXED BY ix_tasks_listing WHERE t.task_type > found.task_type)
    FROM found WHERE found.task_type IS NOT NULL
)
SELECT task_type FROM found WHERE task_type IS NOT NULL;

-- name: promote
UPDATE tasks SET state = 'queued', next_run_at = NULL, updated_at = :now
WHERE seq IN (
    SELECT seq FROM tasks INDEXED BY ix_tasks_due
    WHERE state = 'retry_scheduled' AND next_run_at <= :now ORDER BY next_run_at, seq LIMIT :limit
);

-- name: purge
DELETE FROM tasks WHERE seq IN (
    SELECT seq FROM tasks INDEXED BY ix_tasks_finished
    WHERE finished_at IS NOT NULL AND finished_at <= :now - :age ORDER BY finished_at LIMIT :limit
);

-- name: last_event
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'task_events'), 0);

-- name: events_after
SELECT seq, at, name, facts FROM task_events WHERE seq >= :seq ORDER BY seq LIMIT :limit;
