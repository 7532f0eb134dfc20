-- name: page
SELECT {placement} FROM placements AS placement JOIN library_roots AS library ON library.id = placement.library_id
WHERE placement.id < :before {filter}
ORDER BY placement.id DESC LIMIT :limit;

-- name: get
SELECT {placement} FROM placements AS placement JOIN library_roots AS library ON library.id = placement.library_id
WHERE placement.id = :id;

-- name: retry
UPDATE placements
SET status = 'pending', target_path = coalesce(CAST(:target_path AS text), target_path), tries = 0, lost_leases = 0,
    retry_after = NULL, error_code = NULL, error_facts = NULL, finished_at = NULL, updated_at = :now
WHERE id = :id AND status IN ('pending', 'failed', 'cancelled');

-- name: leave
UPDATE placements SET status = 'cancelled', finished_at = :now, updated_at = :now
WHERE id = :id AND status IN ('pending', 'failed');

-- name: taken
SELECT 1 FROM library_files WHERE library_id = :library_id AND relative_path = :target_path AND is_missing = 0
UNION ALL
SELECT 1 FROM placements
WHERE library_id = :library_id AND target_path = :target_path AND status IN ('pending', 'running', 'failed')
LIMIT 1;

-- name: count_failed
SELECT count(*) FROM (SELECT 1 FROM placements WHERE status = 'failed' LIMIT :most) AS found;

-- name: count_questions
SELECT count(*) FROM (SELECT 1 FROM filing_questions WHERE resolved_at IS NULL LIMIT :most) AS found;
