-- name: request
INSERT INTO inspections (kind, folder, paths, created_at, updated_at) VALUES (:kind, :folder, :paths, :now, :now) RETURNING id;

-- name: status
SELECT status, error_code FROM inspections WHERE id = :id;

-- name: folder
SELECT folder FROM inspections WHERE id = :id;

-- name: files
SELECT relative_path, size_bytes, mtime_ns FROM inspected_files WHERE inspection_id = :id ORDER BY position;

-- name: give_up
UPDATE inspections SET status = 'cancelled', finished_at = :now, updated_at = :now WHERE id = :id AND status = 'pending';

-- name: unfinished
-- What a downloader may be writing to, or left in the middle.
SELECT download.module_id, download.save_path, link.title
FROM downloads AS download JOIN anime_links AS link ON link.id = download.link_id
WHERE download.save_path IS NOT NULL AND (
    download.status IN ('pending', 'downloading', 'downloader_error', 'no_downloader')
    OR (download.status = 'failed' AND download.progress > 0 AND download.progress < 1))
ORDER BY download.id;
