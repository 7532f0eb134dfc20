-- What is given is joined by CROSS JOIN: SQLite reads it first then, and finds the rest by an index.

-- name: options
SELECT {option}
FROM {given} CROSS JOIN anime_links AS link {joins}
WHERE link.id = CAST(given.value AS bigint)
    AND NOT EXISTS (SELECT 1 FROM release_blocklist AS block
                    WHERE block.release_key = link.release_key AND block.cleared_at IS NULL
                        AND (block.blocked_until IS NULL OR block.blocked_until > :now))
ORDER BY link.id;

-- name: current
SELECT {option}, download.id, download.status
FROM {given} CROSS JOIN anime_links AS link {joins}
JOIN downloads AS download ON download.link_id = link.id
WHERE link.episode_id = CAST(given.value AS bigint) AND download.status NOT IN ('failed', 'cancelled')
    AND download.given_back_at IS NULL
ORDER BY link.id, download.id;

-- name: rivals
-- The other releases of these links' episodes that could be taken and were not.
SELECT DISTINCT rival.id, rival.title
FROM {given} CROSS JOIN anime_links AS link JOIN anime_links AS rival ON rival.episode_id = link.episode_id
WHERE link.id = CAST(given.value AS bigint) AND rival.id <> link.id AND rival.is_filtered = 0 AND rival.held_reason IS NULL
  AND NOT EXISTS (SELECT 1 FROM downloads WHERE downloads.link_id = rival.id AND downloads.status <> 'cancelled')
  AND NOT EXISTS (SELECT 1 FROM release_blocklist AS block
                    WHERE block.release_key = rival.release_key AND block.cleared_at IS NULL
                        AND (block.blocked_until IS NULL OR block.blocked_until > :now))
ORDER BY rival.id;

-- name: series_preferences
-- What shows say of their releases, and else the default.
SELECT series.id, profile.conflict_policy, profile.upgrade, profile.wait_minutes, profile.preferences
FROM {given} CROSS JOIN series
JOIN release_profiles AS profile
    ON profile.id = coalesce(series.profile_id, (SELECT usual.id FROM release_profiles AS usual WHERE usual.is_default = 1))
WHERE series.id = CAST(given.value AS bigint);

-- name: have
SELECT episodes.id FROM {given} CROSS JOIN episodes
WHERE episodes.id = CAST(given.value AS bigint) AND episodes.state = 'have';

-- name: kept
-- What may take the place of the file that a library has of an episode: as the library says for what Kurabito put there, and nothing
-- for what was found there.
SELECT had.episode_id, CASE WHEN EXISTS (
           SELECT 1 FROM placements AS placement
           WHERE placement.library_id = file.library_id AND placement.target_path = file.relative_path
               AND placement.status = 'completed' AND placement.method <> 'found' AND placement.placed_inode = file.inode
               AND placement.placed_device = file.device) THEN library.upgrades ELSE 'none' END
FROM {given} CROSS JOIN episode_files AS had JOIN library_files AS file ON file.id = had.file_id
JOIN library_roots AS library ON library.id = file.library_id
WHERE had.episode_id = CAST(given.value AS bigint) AND file.is_missing = 0
ORDER BY had.episode_id, file.id;

-- name: unwanted
SELECT episodes.id FROM {given} CROSS JOIN episodes JOIN series ON series.id = episodes.series_id
WHERE episodes.id = CAST(given.value AS bigint) AND {unwanted};

-- name: open_conflicts
-- Of these episodes, those whose release is still to be chosen.
SELECT conflicts.episode_id FROM {given} CROSS JOIN conflicts
WHERE conflicts.episode_id = CAST(given.value AS bigint) AND conflicts.status <> 'resolved';

-- name: under_way
-- Of these links, those that are on their way: another download of them is not made.
SELECT DISTINCT downloads.link_id FROM {given} CROSS JOIN downloads
WHERE downloads.link_id = CAST(given.value AS bigint)
    AND downloads.status IN ('pending', 'downloading', 'downloader_error');

-- name: of_downloads
SELECT download.id, link.title
FROM {given} CROSS JOIN downloads AS download JOIN anime_links AS link ON link.id = download.link_id
WHERE download.id = CAST(given.value AS bigint)
ORDER BY download.id;

-- name: open
INSERT INTO conflicts (episode_id, status, due_at, created_at, updated_at)
VALUES (:episode_id, :status, CASE WHEN CAST(:wait AS bigint) IS NULL THEN NULL ELSE :now + CAST(:wait AS bigint) END, :now, :now)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: resolve
UPDATE conflicts SET status = 'resolved', link_id = :link_id, updated_at = :now WHERE id = :id AND status <> 'resolved';

-- name: page
SELECT {conflict}
FROM conflicts AS conflict JOIN episodes AS episode ON episode.id = conflict.episode_id
JOIN series ON series.id = episode.series_id
WHERE conflict.id < :before AND conflict.status <> 'resolved'
ORDER BY conflict.id DESC LIMIT :limit;

-- name: open_of_series
SELECT {conflict}
FROM episodes AS episode JOIN conflicts AS conflict ON conflict.episode_id = episode.id AND conflict.status <> 'resolved'
JOIN series ON series.id = episode.series_id
WHERE episode.series_id = :series_id
ORDER BY conflict.id;

-- name: get
SELECT {conflict}
FROM conflicts AS conflict JOIN episodes AS episode ON episode.id = conflict.episode_id
JOIN series ON series.id = episode.series_id
WHERE conflict.id = :id;

-- name: open_links
-- What could still be taken for an episode.
SELECT link.id, link.title FROM anime_links AS link
WHERE link.episode_id = :episode_id AND link.is_filtered = 0 AND link.held_reason IS NULL
ORDER BY link.id;
