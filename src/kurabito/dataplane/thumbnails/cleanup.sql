-- name: finished_of_group
SELECT id, output_path FROM thumbnails
WHERE group_key = :group_key AND status IN ('ready', 'failed') AND id > :after ORDER BY id LIMIT :limit {for_update};

-- name: forget
DELETE FROM thumbnails WHERE id = :id AND status IN ('ready', 'failed');
