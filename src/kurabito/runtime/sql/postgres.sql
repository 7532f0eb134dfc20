-- name: tell_and_wake
WITH told AS (INSERT INTO task_events (at, name, facts) VALUES (:now, :name, :facts) RETURNING at)
SELECT at, pg_notify('kurabito', '') FROM told;

-- name: wake
SELECT pg_notify('kurabito', :payload);

-- name: store_one
-- Everything about one task that may start at once, in one statement: its row, its event, the word to the workers, and which
-- types they run.
WITH stored AS (
    INSERT INTO tasks (id, task_type, payload, content_type, state, priority, max_attempts, created_at, updated_at)
    VALUES (:id, :task_type, :payload, :content_type, 'queued', :priority, :max_attempts, :now, :now)
)
INSERT INTO task_events (at, name, facts) VALUES (:now, 'Enqueued', :facts)
RETURNING at, pg_notify('kurabito', ''), ARRAY(SELECT task_types FROM task_workers WHERE expires_at > :now);

-- name: tell_started
INSERT INTO task_events (at, name, facts)
SELECT :now, 'Started', json_agg(json_build_array(id, task_type, attempts) ORDER BY priority DESC, seq) FROM taken
HAVING count(*) > 0;

-- name: store
INSERT INTO tasks (id, task_type, payload, content_type, state, priority, next_run_at, max_attempts, created_at, updated_at)
SELECT id, task_type, payload, content_type,
       CASE WHEN due > :now THEN 'retry_scheduled' ELSE 'queued' END, priority,
       CASE WHEN due > :now THEN due END, max_attempts, :now, :now
FROM (SELECT *, coalesce(run_at, :now + delay) AS due FROM (<rows>) AS given) AS given
ORDER BY place;

-- name: copy
COPY tasks (id, task_type, payload, content_type, state, priority, next_run_at, max_attempts, created_at, updated_at)
FROM STDIN;

-- name: store_keyed
-- Numbered in the order in which they were given, written in the order of their keys: two batches with the same keys must
-- not wait for one another.
INSERT INTO tasks (seq, id, task_type, payload, content_type, state, priority, unique_key, next_run_at, max_attempts,
                   created_at, updated_at)
SELECT seq, id, task_type, payload, content_type,
       CASE WHEN due > :now THEN 'retry_scheduled' ELSE 'queued' END, priority, unique_key,
       CASE WHEN due > :now THEN due END, max_attempts, :now, :now
FROM (
    SELECT *, coalesce(run_at, :now + delay) AS due, nextval(pg_get_serial_sequence('tasks', 'seq')) AS seq
    FROM (<rows>) AS given
    ORDER BY place
) AS given
ORDER BY unique_key
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND finished_at IS NULL DO UPDATE
SET priority = CASE WHEN tasks.state = 'running' THEN tasks.priority ELSE greatest(tasks.priority, excluded.priority) END
RETURNING {record};

-- name: find
SELECT {record} FROM tasks WHERE id = :id;

-- name: find_for_change
SELECT {record} FROM tasks WHERE id = :id FOR UPDATE;

-- name: active_among
SELECT id FROM tasks WHERE id = ANY(:ids::uuid[]) AND state IN ('queued', 'running', 'retry_scheduled');

-- name: counts
-- Each state from an index that holds just its tasks. Grouping them would take three times as long.
WITH known AS (SELECT json_array_elements_text(:task_types::json) AS task_type),
counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM tasks WHERE state = 'queued') AS queued,
           (SELECT count(*) FROM tasks WHERE state = 'running') AS running,
           (SELECT count(*) FROM tasks WHERE state = 'retry_scheduled') AS retry_scheduled,
           (SELECT count(*) FROM tasks WHERE finished_at IS NOT NULL) AS finished,
           (SELECT count(*) FROM tasks WHERE task_type = ANY (ARRAY(SELECT task_type FROM known)) AND state = 'dead')
               AS dead,
           (SELECT count(*) FROM tasks WHERE task_type = ANY (ARRAY(SELECT task_type FROM known)) AND state = 'cancelled')
               AS cancelled
)
SELECT queued, running, retry_scheduled, finished - dead - cancelled, dead, cancelled FROM counted;

-- name: page
SELECT {record} FROM tasks WHERE seq < :before ORDER BY seq DESC LIMIT :limit;

-- name: page_among
SELECT {record} FROM tasks WHERE seq = ANY (
    ARRAY(
        SELECT found.seq
        FROM unnest(:task_types::text[]) AS wanted (task_type)
        CROSS JOIN unnest(:states::text[]) AS among (state)
        CROSS JOIN LATERAL (
            SELECT seq FROM tasks
            WHERE task_type = wanted.task_type AND state = among.state AND seq < :before
            ORDER BY seq DESC LIMIT :limit
        ) AS found
        ORDER BY found.seq DESC LIMIT :limit
    )
)
ORDER BY seq DESC;

-- name: types
WITH RECURSIVE found (task_type) AS (
    (SELECT task_type FROM tasks ORDER BY task_type LIMIT 1)
    UNION ALL
    SELECT (SELECT t.task_type FROM tasks AS t WHERE t.task_type > found.task_type ORDER BY t.task_type LIMIT 1)
    FROM found WHERE found.task_type IS NOT NULL
)
SELECT task_type FROM found WHERE task_type IS NOT NULL;

-- name: candidates_of_one
SELECT seq FROM tasks WHERE <claimable> AND task_type = :task_type
ORDER BY priority DESC, seq LIMIT :room FOR UPDATE SKIP LOCKED;

-- name: candidates
SELECT taken.seq
FROM (
    -- How many of each type are among the first, so that no row is locked that is not taken.
    SELECT task_type, count(*) AS share
    FROM (
        SELECT first.task_type
        FROM unnest(:task_types::text[], :capacities::integer[]) AS wanted (task_type, capacity)
        CROSS JOIN LATERAL (
            SELECT task_type, priority, seq FROM tasks
            WHERE <claimable> AND task_type = wanted.task_type
            ORDER BY priority DESC, seq LIMIT least(wanted.capacity, :limit)
        ) AS first
        ORDER BY first.priority DESC, first.seq LIMIT :limit
    ) AS first
    GROUP BY task_type
) AS shares
CROSS JOIN LATERAL (
    SELECT seq FROM tasks WHERE <claimable> AND task_type = shares.task_type
    ORDER BY priority DESC, seq LIMIT shares.share FOR UPDATE SKIP LOCKED
) AS taken;

-- name: promote
UPDATE tasks SET state = 'queued', next_run_at = NULL, updated_at = :now
WHERE seq = ANY (ARRAY(
    SELECT seq FROM tasks WHERE state = 'retry_scheduled' AND next_run_at <= :now
    ORDER BY next_run_at, seq LIMIT :limit FOR UPDATE SKIP LOCKED
));

-- name: purge
DELETE FROM tasks WHERE seq = ANY (ARRAY(
    SELECT seq FROM tasks WHERE finished_at IS NOT NULL AND finished_at <= :now - CAST(:age AS bigint)
    ORDER BY finished_at LIMIT :limit FOR UPDATE SKIP LOCKED
));

-- name: first_uncommitted
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

-- name: events_seen
SELECT tx::text::bigint, seq FROM task_events WHERE tx >= :tx::text::xid8;

-- name: events_after
SELECT tx::text::bigint, seq, at, name, facts FROM task_events
WHERE (tx, seq) >= (:tx::text::xid8, :seq) AND tx < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY tx, seq LIMIT :limit;
