-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index. Where it is joined to an
-- UPDATE, `coalesce` around the status does the same: by the index on that, every row would be compared with all that is given.

-- name: add
INSERT INTO downloads (link_id, status, queued_at, created_at, updated_at)
SELECT CAST(given.value AS bigint), 'pending', :now, :now, :now
FROM {given} WHERE true
ON CONFLICT DO NOTHING
RETURNING id;

-- name: requeue
-- What nobody could take, for those whose link is still wanted, unless it is to be tried again only later.
UPDATE downloads SET status = 'pending', queued_at = :now, updated_at = :now, reason = NULL, retry_at = NULL
WHERE status = 'no_downloader' AND (retry_at IS NULL OR retry_at <= :now) AND EXISTS (
    SELECT 1 FROM anime_links AS link
    WHERE link.id = downloads.link_id AND link.is_filtered = 0
        AND link.download_type IN (SELECT CAST(given.value ->> 'type' AS {enum download_type}) FROM {given}))
    {refused}
RETURNING id;

-- name: requeue_links
UPDATE downloads
SET status = 'pending', queued_at = :now, updated_at = :now, reason = NULL, retry_at = NULL, tries = 0
WHERE status = 'no_downloader' AND link_id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING id;

-- name: requests
SELECT download.id, download.link_id, link.url, link.download_type, link.hash, link.release_key, series.title, series.id,
       download.avoids_module_id, link.size_bytes, download.has_stalled, download.tries
FROM {given} CROSS JOIN downloads AS download
JOIN anime_links AS link ON link.id = download.link_id
JOIN series ON series.id = link.series_id
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

-- name: cancel
UPDATE downloads SET status = 'cancelled', reason = :reason, rate = NULL, updated_at = :now
WHERE status IN ({cancellable}) AND id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING id;

-- name: of_links
-- The last download of each link, whatever became of it.
SELECT download.id, download.link_id, download.status
FROM {given} CROSS JOIN downloads AS download
WHERE download.link_id = CAST(given.value AS bigint)
ORDER BY download.id;

-- name: elsewhere
UPDATE downloads
SET status = 'pending', avoids_module_id = module_id, module_id = NULL, owner = NULL, progress = 0, downloaded_bytes = 0,
    rate = NULL, peers = NULL, detail = NULL, missed_polls = 0, has_stalled = :has_stalled, reason = :reason, queued_at = :now,
    updated_at = :now
WHERE status IN ({leaving}) AND id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING id;

-- name: sharing
-- Every row that stands for the same content at the same downloader.
SELECT other.id FROM downloads AS mine JOIN downloads AS other
    ON other.hash = mine.hash AND other.module_id = mine.module_id AND other.status = mine.status
WHERE mine.id = :id;

-- name: note_detail
UPDATE downloads SET detail = :detail, rate = NULL, updated_at = :now
WHERE hash = :hash AND module_id = :module_id AND status = 'downloading';

-- name: forget
UPDATE downloads SET forgotten_at = :now, updated_at = :now WHERE id = :id;

-- name: restate
-- What is there stays there; the rest follows the downloads of its links.
UPDATE episodes
SET state = CASE
        WHEN EXISTS (SELECT 1 FROM anime_links AS link CROSS JOIN downloads AS download
                     WHERE link.episode_id = episodes.id AND download.link_id = link.id
                         AND download.status = 'completed' AND download.given_back_at IS NULL) THEN 'have'
        WHEN EXISTS (SELECT 1 FROM anime_links AS link CROSS JOIN downloads AS download
                     WHERE link.episode_id = episodes.id AND download.link_id = link.id
                         AND download.status IN ('pending', 'downloading', 'downloader_error')) THEN 'downloading'
        ELSE 'wanted' END,
    updated_at = :now
WHERE state <> 'have' AND id IN (
    SELECT link.episode_id FROM {given} CROSS JOIN downloads AS download JOIN anime_links AS link ON link.id = download.link_id
    WHERE download.id = CAST(given.value AS bigint));

-- name: page
SELECT {download} FROM downloads AS download {joins}
WHERE download.id < :before AND download.forgotten_at IS NULL {filter}
ORDER BY download.id DESC LIMIT :limit;

-- name: get
SELECT {download} FROM downloads AS download {joins} WHERE download.id = :id AND download.forgotten_at IS NULL;
