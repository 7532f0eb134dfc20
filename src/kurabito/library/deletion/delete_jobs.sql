-- name: add_job
INSERT INTO jobs (id, kind, dry_run, payload, total_items, created_at, updated_at)
VALUES (:id, 'delete', :dry_run, :payload, :total_items, :now, :now);
