-- name: forget
DELETE FROM download_files WHERE download_id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: add
INSERT INTO download_files (download_id, position, path, size_bytes, is_wanted, is_complete)
SELECT CAST(given.value ->> 'download_id' AS bigint), CAST(given.value ->> 'position' AS integer), given.value ->> 'path',
       CAST(given.value ->> 'size' AS bigint), CAST(given.value ->> 'wanted' AS integer),
       CAST(given.value ->> 'complete' AS integer)
FROM {given} WHERE true;

-- name: copy
-- Those of another download that stands for the same content, which are the same for all that do.
INSERT INTO download_files (download_id, position, path, size_bytes, is_wanted, is_complete)
SELECT download.id, file.position, file.path, file.size_bytes, file.is_wanted, file.is_complete
FROM {given} CROSS JOIN downloads AS download
JOIN download_files AS file ON file.download_id = (
    SELECT min(other.id) FROM downloads AS other JOIN download_files AS listed ON listed.download_id = other.id
    WHERE other.hash = download.hash AND other.module_id = download.module_id AND other.status = 'completed'
        AND other.id <> download.id)
WHERE download.id = CAST(given.value AS bigint)
ON CONFLICT DO NOTHING;

-- name: of_download
SELECT path, size_bytes, is_wanted, is_complete FROM download_files
WHERE download_id = :id ORDER BY position LIMIT :limit;
