-- name: complete
-- The downloads that make an episode one that we have.
SELECT download.id FROM anime_links AS link CROSS JOIN downloads AS download
WHERE link.episode_id = :episode_id AND download.link_id = link.id AND download.status = 'completed'
    AND download.given_back_at IS NULL
ORDER BY download.id;

-- name: forgotten_with
-- The complete rows for the content of one, itself among them, that are shown no longer: their files go with its own.
SELECT other.id FROM downloads AS mine JOIN downloads AS other
    ON other.hash = mine.hash AND other.module_id = mine.module_id AND other.status = mine.status
WHERE mine.id = :id AND other.forgotten_at IS NOT NULL AND other.given_back_at IS NULL;

-- name: give_back
UPDATE downloads SET given_back_at = :now, updated_at = :now
WHERE status = 'completed' AND given_back_at IS NULL AND id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: episodes_of
-- Those of their episodes that nothing else makes had.
SELECT DISTINCT link.episode_id
FROM {given} CROSS JOIN downloads AS download JOIN anime_links AS link ON link.id = download.link_id
WHERE download.id = CAST(given.value AS bigint) AND link.episode_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM anime_links AS other_link CROSS JOIN downloads AS other
                    WHERE other_link.episode_id = link.episode_id AND other.link_id = other_link.id
                        AND other.status = 'completed' AND other.given_back_at IS NULL)
    AND (:even_filed = 1 OR NOT EXISTS (
            SELECT 1 FROM episode_files AS had JOIN library_files AS file ON file.id = had.file_id
            WHERE had.episode_id = link.episode_id AND file.is_missing = 0));

-- name: want
UPDATE episodes SET state = 'wanted', updated_at = :now
WHERE state = 'have' AND id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: mark_unwanted
UPDATE episodes SET is_unwanted = :is_unwanted, updated_at = :now WHERE id = :episode_id;

-- name: mark_several
-- Those that change; what is under way stays as it is.
UPDATE episodes SET is_unwanted = :is_unwanted, updated_at = :now
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given}) AND is_unwanted <> :is_unwanted AND state <> 'downloading'
RETURNING id;

-- name: state
SELECT state FROM episodes WHERE id = :episode_id;

-- name: releases
-- What can be taken for an episode: no rule and no series holds it back, and its content is not at a downloader for another episode.
SELECT link.id FROM anime_links AS link
WHERE link.episode_id = :episode_id AND link.is_filtered = 0 AND link.held_reason IS NULL
    AND NOT EXISTS (SELECT 1 FROM downloads AS mine CROSS JOIN downloads AS other
                    WHERE mine.link_id = link.id AND other.hash = mine.hash AND other.link_id <> link.id
                        AND other.status IN ('downloading', 'completed', 'downloader_error')
                        AND other.given_back_at IS NULL)
ORDER BY link.id;

-- name: still_there
-- Where the content of these links may still be, from when they were complete. What the user added is not ours to remove.
SELECT DISTINCT download.module_id, download.hash
FROM {given} CROSS JOIN downloads AS download
WHERE download.link_id = CAST(given.value AS bigint) AND download.given_back_at IS NOT NULL
    AND download.module_id IS NOT NULL AND download.hash IS NOT NULL AND coalesce(download.owner, '') <> 'user'
ORDER BY download.module_id, download.hash;

-- name: owners
SELECT DISTINCT owner FROM downloads WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: fail
UPDATE downloads SET status = 'failed', reason = :reason, rate = NULL, updated_at = :now
WHERE status = 'completed' AND id IN (SELECT CAST(given.value AS bigint) FROM {given})
RETURNING link_id;
