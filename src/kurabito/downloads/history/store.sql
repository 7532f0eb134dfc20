-- Each statement reads one source, newest first, from a cursor on. {tables} are its tables: from the time on for everything, and
-- from the releases on for one show and for few releases (SQLite joins in the order that is written). {moment} is the column of the time. The rows of a
-- batch, one for each episode, are one entry: that of the lowest id.

-- name: links
SELECT link.created_at AS at, link.id, {release}, NULL AS download_id, NULL AS downloader, NULL AS reason, NULL AS path,
       link.size_bytes
FROM {tables} CROSS JOIN series LEFT JOIN episodes AS episode ON episode.id = link.episode_id
WHERE series.id = link.series_id AND (link.created_at, link.id) < (:at, :id) AND link.created_at >= :since {narrowed}
    AND {position}(lower(link.title || ' ' || series.title), lower(:text)) > 0
    AND NOT EXISTS (SELECT 1 FROM anime_links AS first WHERE first.release_key = link.release_key AND first.id < link.id)
ORDER BY link.created_at DESC, link.id DESC LIMIT :limit;

-- name: downloads
SELECT download.{moment} AS at, download.id, {release}, download.id AS download_id, module.service_name AS downloader,
       CASE WHEN download.status IN ('failed', 'cancelled') THEN download.reason END AS reason, NULL AS path,
       coalesce(download.size_bytes, link.size_bytes) AS size_bytes
FROM {tables} CROSS JOIN series LEFT JOIN episodes AS episode ON episode.id = link.episode_id
LEFT JOIN service_modules AS module ON module.module_id = download.module_id
WHERE link.id = download.link_id AND series.id = link.series_id AND {state}
    AND (download.{moment}, download.id) < (:at, :id) AND download.{moment} >= :since {narrowed}
    AND (CAST(:module_id AS bigint) IS NULL OR download.module_id = :module_id)
    AND {position}(lower(link.title || ' ' || series.title), lower(:text)) > 0
    AND NOT EXISTS (SELECT 1 FROM anime_links AS part CROSS JOIN downloads AS first
                    WHERE part.release_key = link.release_key AND first.link_id = part.id AND first.id < download.id
                        AND first.{moment} = download.{moment} AND {same})
ORDER BY download.{moment} DESC, download.id DESC LIMIT :limit;

-- name: attempts
SELECT attempt.sent_at AS at, attempt.id, {release}, download.id AS download_id, attempt.module_name AS downloader,
       NULL AS reason, NULL AS path, coalesce(download.size_bytes, link.size_bytes) AS size_bytes
FROM {tables} CROSS JOIN series LEFT JOIN episodes AS episode ON episode.id = link.episode_id
WHERE link.id = download.link_id AND download.id = attempt.download_id AND series.id = link.series_id
    AND attempt.outcome = 'accepted' AND (attempt.sent_at, attempt.id) < (:at, :id) AND attempt.sent_at >= :since {narrowed}
    AND (CAST(:module_id AS bigint) IS NULL OR attempt.module_id = :module_id)
    AND {position}(lower(link.title || ' ' || series.title), lower(:text)) > 0
    AND NOT EXISTS (SELECT 1 FROM anime_links AS part CROSS JOIN downloads AS other CROSS JOIN dispatch_attempts AS first
                    WHERE part.release_key = link.release_key AND other.link_id = part.id AND first.download_id = other.id
                        AND first.id < attempt.id AND first.sent_at = attempt.sent_at AND first.outcome = 'accepted')
ORDER BY attempt.sent_at DESC, attempt.id DESC LIMIT :limit;

-- name: placements
-- Renames, and what is written beside videos, brought no episode.
SELECT placement.finished_at AS at, placement.id, episode.series_id, series.title AS series, series.season,
       episode.number AS episode,
       (SELECT count(*) FROM placement_episodes AS part WHERE part.placement_id = placement.id) AS episodes,
       coalesce(link.title, placement.target_path) AS title, placement.download_id, module.service_name AS downloader,
       NULL AS reason, placement.target_path AS path, placement.size_bytes
FROM {tables} CROSS JOIN series LEFT JOIN downloads AS download ON download.id = placement.download_id
LEFT JOIN anime_links AS link ON link.id = download.link_id
LEFT JOIN service_modules AS module ON module.module_id = download.module_id
WHERE placement.status = 'completed' AND placement.mode NOT IN ('rename', 'write') AND {state}
    AND of_placement.placement_id = placement.id AND episode.id = of_placement.episode_id AND series.id = episode.series_id
    AND NOT EXISTS (SELECT 1 FROM placement_episodes AS part
                    WHERE part.placement_id = placement.id AND part.episode_id < of_placement.episode_id)
    AND (placement.finished_at, placement.id) < (:at, :id) AND placement.finished_at >= :since {narrowed}
    AND (CAST(:module_id AS bigint) IS NULL OR download.module_id = :module_id)
    AND {position}(lower(placement.target_path || ' ' || coalesce(link.title, '') || ' ' || series.title), lower(:text)) > 0
ORDER BY placement.finished_at DESC, placement.id DESC LIMIT :limit;

-- name: trash
-- Files that were removed; those that a better one replaced are told of as upgrades. A file is of the show that it was placed
-- for, or whose folder it lay in.
SELECT trashed.at, trashed.id, series.id AS series_id, series.title AS series, series.season, NULL AS episode, 0 AS episodes,
       trashed.path AS title, NULL AS download_id, NULL AS downloader, NULL AS reason, trashed.path, trashed.size_bytes
FROM (
    SELECT entry.trashed_at AS at, entry.id, entry.relative_path AS path, entry.size_bytes, coalesce(
        (SELECT min(episode.series_id) FROM placements AS placement
         JOIN placement_episodes AS of_placement ON of_placement.placement_id = placement.id
         JOIN episodes AS episode ON episode.id = of_placement.episode_id
         WHERE placement.library_id = entry.library_id AND placement.target_path = entry.relative_path),
        (SELECT min(episode.series_id) FROM episode_files AS had JOIN episodes AS episode ON episode.id = had.episode_id
         WHERE had.file_id = entry.file_id)) AS series_id
    FROM trash_entries AS entry
    WHERE entry.successor_path IS NULL AND (entry.trashed_at, entry.id) < (:at, :id) AND entry.trashed_at >= :since
) AS trashed LEFT JOIN series ON series.id = trashed.series_id
WHERE {position}(lower(trashed.path || ' ' || coalesce(series.title, '')), lower(:text)) > 0 {narrowed}
ORDER BY trashed.at DESC, trashed.id DESC LIMIT :limit;
