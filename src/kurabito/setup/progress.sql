-- name: progress
SELECT step, finished_at FROM first_run WHERE id = 1;

-- name: is_used
SELECT 1 WHERE EXISTS (SELECT 1 FROM library_roots) OR EXISTS (SELECT 1 FROM passwords)
    OR EXISTS (SELECT 1 FROM subscriptions) OR EXISTS (SELECT 1 FROM series);

-- name: reach
INSERT INTO first_run (id, step) VALUES (1, :step) ON CONFLICT (id) DO UPDATE SET step = excluded.step;

-- name: finish
INSERT INTO first_run (id, step, finished_at) VALUES (1, :step, :now)
ON CONFLICT (id) DO UPDATE SET finished_at = excluded.finished_at;
