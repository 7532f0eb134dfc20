-- name: add
INSERT INTO corrections (kind, series_id, other_id, made_by, facts, changes, created_at)
VALUES (:kind, :series_id, :other_id, :made_by, :facts, :changes, :now)
RETURNING id;

-- name: set_changes
UPDATE corrections SET changes = :changes WHERE id = :id;

-- name: page
SELECT {correction} FROM corrections
WHERE id < :before AND (series_id = :series_id OR other_id = :series_id)
ORDER BY id DESC LIMIT :limit;

-- name: last
-- The last correction of a series that stands.
SELECT {correction}, changes FROM corrections
WHERE undone_at IS NULL AND (series_id = :series_id OR other_id = :series_id)
ORDER BY id DESC LIMIT 1;

-- name: note_undone
UPDATE corrections SET undone_at = :now WHERE id = :id;
