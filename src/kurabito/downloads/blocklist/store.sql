-- name: failed
-- The last failed download of each of these links that is not blocked for it yet.
SELECT download.id, download.reason, link.release_key, link.series_id, link.title
FROM {given} CROSS JOIN anime_links AS link JOIN downloads AS download ON download.link_id = link.id
WHERE link.id = CAST(given.value AS bigint) AND download.status = 'failed'
    AND NOT EXISTS (SELECT 1 FROM release_blocklist AS known WHERE known.download_id = download.id)
ORDER BY download.id;

-- name: unnoticed
-- Downloads that failed at a downloader of late, and for which no other release was taken yet.
SELECT download.id, download.link_id, download.reason FROM downloads AS download
WHERE download.status = 'failed' AND download.updated_at > :now - CAST(:age AS bigint) AND download.forgotten_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM release_blocklist AS known WHERE known.download_id = download.id)
ORDER BY download.id;

-- name: add
INSERT INTO release_blocklist (release_key, download_id, series_id, title, reason, blocked_until, created_at)
SELECT given.value ->> 'release_key', CAST(given.value ->> 'download_id' AS bigint),
       CAST(given.value ->> 'series_id' AS bigint), given.value ->> 'title', given.value ->> 'reason',
       :now + CAST(given.value ->> 'length' AS bigint), :now
FROM {given} WHERE true
ON CONFLICT DO NOTHING;

-- name: blocked
-- Of these releases, those that are not to be taken now, and why.
SELECT block.release_key, block.reason, block.blocked_until
FROM {given} CROSS JOIN release_blocklist AS block
WHERE block.release_key = given.value ->> 'release_key' AND block.cleared_at IS NULL
    AND (block.blocked_until IS NULL OR block.blocked_until > :now)
ORDER BY block.id;

-- name: page
SELECT {block} FROM release_blocklist
WHERE id < :before AND cleared_at IS NULL AND (blocked_until IS NULL OR blocked_until > :now)
ORDER BY id DESC LIMIT :limit;

-- name: get
SELECT id FROM release_blocklist WHERE id = :id AND cleared_at IS NULL;

-- name: clear
-- Every row of the same release: it failed more than once.
UPDATE release_blocklist SET cleared_at = :now
WHERE cleared_at IS NULL AND release_key = (SELECT block.release_key FROM release_blocklist AS block WHERE block.id = :id);

-- name: clear_all
UPDATE release_blocklist SET cleared_at = :now WHERE cleared_at IS NULL;
