-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index. Where it is joined to an
-- UPDATE, `coalesce` around the status does the same: by the index on that, every row would be compared with all that is given.

-- name: add
INSERT INTO downloads (link_id, status, queued_at, created_at, updated_at)
SELECT CAST(given.value AS bigint), 'pending', :now, :now, :now
FROM {given} WHERE true
ON CONFLICT DO NOTHING
RETURNING id;

-- name: requeue
-- What no downloader took, where the link is still wanted and the pause before the next try is over.
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
-- When it failed is told by `updated_at`, which therefore stays.
UPDATE downloads SET forgotten_at = :now WHERE id = :id;

-- name: restate
-- What is in a library stays so; the rest follows the downloads of its links.
UPDATE episodes
SET state = CASE
        {as_its_downloads_are}
        WHEN EXISTS (SELECT 1 FROM episode_files AS had JOIN library_files AS file ON file.id = had.file_id
                     WHERE had.episode_id = episodes.id AND file.is_missing = 0) THEN 'have'
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

-- name: restate_moved
-- By the files and links that they have now, whatever they were.
UPDATE episodes
SET state = CASE
        WHEN EXISTS (SELECT 1 FROM episode_files AS had WHERE had.episode_id = episodes.id) THEN 'have'
        {as_its_downloads_are}
        ELSE 'wanted' END,
    updated_at = :now
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: failed_links
-- The last download of each link that failed lately and whose episode is still wanted. What is blocked for good is not tried again.
SELECT max(download.id) FROM downloads AS download JOIN anime_links AS link ON link.id = download.link_id
LEFT JOIN episodes ON episodes.id = link.episode_id
WHERE download.status = 'failed' AND download.updated_at > :now - CAST(:age AS bigint) AND download.forgotten_at IS NULL
    AND (episodes.id IS NULL OR episodes.state = 'wanted')
    AND NOT EXISTS (SELECT 1 FROM release_blocklist AS block
                    WHERE block.download_id = download.id AND block.blocked_until IS NULL AND block.cleared_at IS NULL)
GROUP BY download.link_id ORDER BY 1 DESC LIMIT :most;

-- name: failed
-- What failed lately, and whose episodes are still wanted, but for what is blocked for good.
SELECT count(*) FROM (
    SELECT 1 FROM downloads AS download JOIN anime_links AS link ON link.id = download.link_id
    LEFT JOIN episodes ON episodes.id = link.episode_id
    WHERE download.status = 'failed' AND download.updated_at > :now - CAST(:age AS bigint) AND download.forgotten_at IS NULL
        AND (episodes.id IS NULL OR episodes.state = 'wanted')
        AND NOT EXISTS (SELECT 1 FROM release_blocklist AS block
                        WHERE block.download_id = download.id AND block.blocked_until IS NULL AND block.cleared_at IS NULL)
    LIMIT :most) AS found;
