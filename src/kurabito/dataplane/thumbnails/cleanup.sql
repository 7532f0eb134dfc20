-- name: is_due
-- Looking costs the others nothing; claiming makes them wait.
SELECT EXISTS (SELECT 1 FROM thumbnail_cleanup_jobs WHERE {claimable})
    OR EXISTS (SELECT 1 FROM thumbnail_cleanup_jobs WHERE status = 'running' AND lease_expires_at IS NULL)
    OR EXISTS (SELECT 1 FROM thumbnail_cleanup_jobs WHERE status = 'running' AND lease_expires_at <= :now);

-- name: finished_of_group
SELECT id, output_path FROM thumbnails
WHERE group_key = :group_key AND status IN ('ready', 'failed') AND id > :after ORDER BY id LIMIT :limit {for_update};

-- name: forget
DELETE FROM thumbnails WHERE id = :id AND status IN ('ready', 'failed');
