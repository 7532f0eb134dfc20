-- name: begin
-- What is known is no longer the whole of it, so nothing is worked on any more that is left.
UPDATE library_roots
SET removing_since = coalesce(removing_since, :now), last_scanned_at = NULL, next_scan_at = NULL, updated_at = :now
WHERE id = :id;

-- name: plan_again
-- Downloads whose files do not come into this library any more: where they go is decided again.
UPDATE inspections SET planned_at = NULL, updated_at = :now
WHERE status = 'completed' AND download_id IS NOT NULL AND id IN (
    SELECT inspection_id FROM placements WHERE library_id = :id AND status IN ('pending', 'running', 'failed'));

-- name: forget_placements
DELETE FROM placements WHERE library_id = :id AND status IN ('pending', 'failed');

-- name: trashed
SELECT count(*), coalesce(sum(size_bytes), 0) FROM trash_entries WHERE library_id = :id AND left_at IS NULL;

-- name: delete_orders
SELECT payload FROM jobs WHERE kind = 'delete' AND status IN ('pending', 'running', 'retryable');

-- name: plan_concerns
SELECT 1 FROM deletion_steps WHERE plan_id = :plan AND (library_id = :id OR kept_library_id = :id) LIMIT 1;

-- name: entries_concern
SELECT id FROM trash_entries WHERE library_id = :id AND left_at IS NULL;

-- name: count_files
SELECT count(*) FROM library_files WHERE library_id = :id;

-- name: forget_files
DELETE FROM library_files
WHERE id IN (
    SELECT id FROM library_files WHERE library_id = :id AND relative_path > :after ORDER BY relative_path LIMIT :limit
)
RETURNING relative_path;

-- name: forget_findings
DELETE FROM scan_findings
WHERE (session_id, finding, file_id) IN (
    SELECT session_id, finding, file_id FROM scan_findings
    WHERE session_id IN (SELECT id FROM scan_sessions WHERE library_id = :id) LIMIT :limit
);

-- name: forget_matches
DELETE FROM folder_matches WHERE id IN (SELECT id FROM folder_matches WHERE library_id = :id LIMIT :limit);

-- name: forget_trash
DELETE FROM trash_entries WHERE id IN (SELECT id FROM trash_entries WHERE library_id = :id LIMIT :limit);

-- name: forget_sessions
DELETE FROM scan_sessions WHERE id IN (SELECT id FROM scan_sessions WHERE library_id = :id ORDER BY id LIMIT :limit);

-- name: forget
DELETE FROM library_roots WHERE id = :id;
