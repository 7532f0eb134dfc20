-- name: watched
SELECT id, hash, status, progress, size_bytes, rate, peers, detail, missed_polls, owner, save_path FROM downloads
WHERE module_id = :module_id AND status IN ('downloading', 'downloader_error') AND hash IS NOT NULL;

-- name: apply
-- Only what is still this downloader's: meanwhile it may have been cancelled or sent elsewhere. With `coalesce` SQLite reads what
-- is given first, and finds each row by its id.
UPDATE downloads
SET status = given.value ->> 'status', progress = CAST(given.value ->> 'progress' AS double precision),
    size_bytes = CAST(given.value ->> 'size' AS bigint), downloaded_bytes = CAST(given.value ->> 'downloaded' AS bigint),
    rate = CAST(given.value ->> 'rate' AS bigint), peers = CAST(given.value ->> 'peers' AS integer),
    detail = given.value ->> 'detail', reason = given.value ->> 'reason',
    missed_polls = CAST(given.value ->> 'missed' AS integer), owner = given.value ->> 'owner',
    save_path = given.value ->> 'save_path',
    progressed_at = CASE WHEN given.value ->> 'moved' = 'yes' THEN :now ELSE progressed_at END,
    completed_at = CASE WHEN given.value ->> 'status' = 'completed' THEN :now ELSE completed_at END,
    updated_at = :now
FROM {given}
WHERE downloads.id = CAST(given.value ->> 'id' AS bigint) AND coalesce(downloads.module_id, 0) = :module_id
    AND coalesce(downloads.status, '') IN ('downloading', 'downloader_error');

-- name: mistaken
-- A hash that only the downloader named, of something else already: what the magnet link or the feed named so, or what came
-- first. Releases of one episode may share it, and so do the links of a batch.
SELECT download.id, min(first.title)
FROM {given} CROSS JOIN downloads AS download
JOIN anime_links AS link ON link.id = download.link_id
JOIN downloads AS other ON other.hash = download.hash AND other.module_id = download.module_id
    AND other.status IN ('downloading', 'downloader_error', 'completed')
JOIN anime_links AS first ON first.id = other.link_id
WHERE download.id = CAST(given.value AS bigint) AND coalesce(link.hash, '') <> download.hash
    AND first.release_key <> link.release_key AND first.episode_id <> link.episode_id
    AND (first.hash = other.hash OR first.id < link.id)
GROUP BY download.id;

-- name: mark_unreachable
UPDATE downloads SET status = 'downloader_error', reason = :reason, rate = NULL, peers = NULL, updated_at = :now
WHERE module_id = :module_id AND status = 'downloading';

-- name: orphans
-- Also what was in trouble before that.
SELECT id, (SELECT attempt.module_name FROM dispatch_attempts AS attempt
            WHERE attempt.download_id = downloads.id AND attempt.outcome = 'accepted'
            ORDER BY attempt.id DESC LIMIT 1)
FROM downloads
WHERE module_id IS NULL AND status IN ('downloading', 'downloader_error')
    AND (status = 'downloading' OR coalesce(reason, '') NOT LIKE CAST(:same_reason AS text));

-- name: switched_off
SELECT downloads.id, module.service_name
FROM downloads JOIN service_modules AS module ON module.module_id = downloads.module_id
WHERE module.service_type = 'downloader' AND module.is_enabled = 0 AND downloads.status IN ('downloading', 'downloader_error')
    AND (downloads.status = 'downloading' OR coalesce(downloads.reason, '') NOT LIKE CAST(:same_reason AS text));

-- name: leave
-- With `coalesce` SQLite reads what is given first, and finds each row by its id.
UPDATE downloads
SET status = 'downloader_error', rate = NULL, peers = NULL, updated_at = :now, reason = given.value ->> 'reason'
FROM {given}
WHERE downloads.id = CAST(given.value ->> 'id' AS bigint)
    AND coalesce(downloads.status, '') IN ('downloading', 'downloader_error');

-- name: seen
UPDATE service_modules SET last_seen_at = :now, unreachable_since = NULL WHERE module_id = :module_id;

-- name: missed
UPDATE service_modules SET unreachable_since = coalesce(unreachable_since, :now) WHERE module_id = :module_id;

-- name: stalled
-- What is the user's may stand still for as long as the user likes.
SELECT id FROM downloads
WHERE status = 'downloading' AND coalesce(owner, '') <> 'user' AND progressed_at < :now - CAST(:age AS bigint) AND coalesce(peers, 0) = 0
    AND coalesce(detail, '') NOT IN ('paused', 'queued', 'no_slot', 'checking') AND coalesce(detail, '') NOT LIKE 'queued:%';

-- name: away
SELECT id FROM downloads WHERE status = 'downloader_error' AND updated_at < :now - CAST(:age AS bigint);

-- name: downloaders
SELECT module_id FROM service_modules WHERE service_type = 'downloader' AND is_enabled = 1 ORDER BY module_id;
