-- name: arrived
SELECT download.id, download.module_id, download.save_path
FROM downloads AS download
WHERE download.status = 'completed' AND download.given_back_at IS NULL AND download.save_path IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM inspections AS inspection WHERE inspection.download_id = download.id)
    AND NOT EXISTS (
        SELECT 1 FROM downloads AS other
        WHERE other.hash = download.hash AND other.module_id = download.module_id AND other.status = 'completed'
            AND other.given_back_at IS NULL AND other.id < download.id)
ORDER BY download.id LIMIT 100;

-- name: unseen
-- Folders that no data plane saw, or that seemed to be others.
SELECT inspection.id, inspection.folder, download.module_id, download.save_path
FROM inspections AS inspection JOIN downloads AS download ON download.id = inspection.download_id
WHERE download.save_path IS NOT NULL AND (
    (inspection.status = 'pending' AND inspection.error_code IS NOT NULL)
    OR (inspection.status = 'cancelled' AND inspection.error_code = 'PATH_ESCAPES'))
ORDER BY inspection.id;

-- name: forget
DELETE FROM inspections WHERE id = :id AND status IN ('pending', 'cancelled');

-- name: request
INSERT INTO inspections (kind, download_id, folder, paths, status, error_code, error_facts, created_at, updated_at)
VALUES (:kind, :download_id, :folder, :paths, :status, :error_code, :error_facts, :now, :now)
ON CONFLICT (download_id) DO NOTHING;
