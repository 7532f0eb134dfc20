-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index. Where it is joined to an
-- UPDATE, `coalesce` around the status does the same: by the index on that, every row would be compared with all that is given.

-- name: requests
SELECT download.id, download.link_id, link.url, link.download_type, link.hash, series.title, series.id,
       download.avoids_module_id, link.size_bytes, download.has_stalled, download.tries,
       indexer.seed_ratio, indexer.seed_minutes
FROM {given} CROSS JOIN downloads AS download
JOIN anime_links AS link ON link.id = download.link_id
JOIN series ON series.id = link.series_id
LEFT JOIN indexers AS indexer ON indexer.id = link.indexer_id
WHERE download.id = CAST(given.value AS bigint) AND download.status = 'pending'
ORDER BY download.link_id;

-- name: promised
-- What is still to come of all that is under way; what is shared by several rows counts once. With `coalesce` SQLite does not
-- read all there is in the order of the hashes.
SELECT coalesce(sum(remaining), 0) FROM (
    SELECT max(coalesce(download.size_bytes, link.size_bytes, 0) - download.downloaded_bytes) AS remaining
    FROM downloads AS download JOIN anime_links AS link ON link.id = download.link_id
    WHERE download.status IN ('downloading', 'downloader_error')
    GROUP BY coalesce(download.module_id, 0), coalesce(download.hash, '')) AS each_content;

-- name: held_elsewhere
-- The same content that a downloader has already, for another link of the release.
SELECT DISTINCT known.hash, known.module_id, known.status, known.save_path, known.progress, known.size_bytes,
       known.downloaded_bytes, known.owner
FROM {given} CROSS JOIN downloads AS known
WHERE known.hash = given.value ->> 'hash' AND known.status IN ('downloading', 'completed', 'downloader_error')
    AND known.module_id IS NOT NULL AND known.given_back_at IS NULL;

-- name: join_held
UPDATE downloads
SET status = given.value ->> 'status', module_id = CAST(given.value ->> 'module_id' AS integer),
    hash = given.value ->> 'hash', save_path = given.value ->> 'save_path',
    progress = CAST(given.value ->> 'progress' AS double precision),
    size_bytes = CAST(given.value ->> 'size_bytes' AS bigint),
    downloaded_bytes = CAST(given.value ->> 'downloaded_bytes' AS bigint), owner = given.value ->> 'owner',
    progressed_at = :now, updated_at = :now
FROM {given}
WHERE downloads.id = CAST(given.value ->> 'id' AS bigint) AND coalesce(downloads.status, '') = 'pending';

-- name: accept
UPDATE downloads
SET status = 'downloading', module_id = CAST(given.value ->> 'module_id' AS integer), hash = given.value ->> 'hash',
    save_path = given.value ->> 'save_path', owner = given.value ->> 'owner', progress = 0, downloaded_bytes = 0, rate = NULL,
    peers = NULL, detail = NULL, reason = NULL, avoids_module_id = NULL, has_stalled = 0, missed_polls = 0, tries = 0,
    retry_at = NULL, rescues = 0, progressed_at = :now, updated_at = :now
FROM {given}
WHERE downloads.id = CAST(given.value ->> 'id' AS bigint)
    AND coalesce(downloads.status, '') IN ('pending', 'no_downloader')
RETURNING downloads.id;

-- name: conclude
UPDATE downloads
SET status = given.value ->> 'status', reason = given.value ->> 'reason', module_id = NULL,
    retry_at = :now + CAST(given.value ->> 'retry_in' AS bigint),
    tries = tries + CASE WHEN given.value ->> 'retry_in' IS NULL THEN 0 ELSE 1 END, updated_at = :now
FROM {given}
WHERE downloads.id = CAST(given.value ->> 'id' AS bigint) AND coalesce(downloads.status, '') = 'pending';

-- name: touch
UPDATE downloads SET updated_at = :now
WHERE status = 'pending' AND id IN (SELECT CAST(given.value AS bigint) FROM {given});
