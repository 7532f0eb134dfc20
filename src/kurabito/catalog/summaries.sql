-- name: decisions
-- CROSS JOIN keeps SQLite from reading all links first.
SELECT {decision}
FROM {given} CROSS JOIN anime_links AS link
JOIN series ON series.id = link.series_id
LEFT JOIN episodes AS episode ON episode.id = link.episode_id
WHERE link.release_key = given.value ->> 'release_key'
GROUP BY link.release_key, series.id, series.title, series.season, link.held_reason;

-- name: progress
SELECT series_id, {shown_state} AS shown, count(*)
FROM {given} CROSS JOIN episodes
WHERE series_id = CAST(given.value ->> 'id' AS bigint) AND kind IN ('tv', 'movie')
GROUP BY series_id, shown;

-- name: followed
SELECT series.metadata_id, min(series.id)
FROM {given} CROSS JOIN series
WHERE series.metadata_id = CAST(given.value ->> 'id' AS bigint) AND series.state = 'followed'
GROUP BY series.metadata_id;

-- name: any_followed
SELECT 1 FROM series WHERE state = 'followed' LIMIT 1;

-- name: groups
SELECT id, name FROM groups ORDER BY folded LIMIT :limit;

-- name: group
SELECT name FROM groups WHERE id = :id;

-- name: arrived
-- By the index on when they came: the files of episodes are read first, and the rest by their keys.
SELECT episodes.series_id, series.season, episodes.kind, episodes.number, 'have', came.created_at
FROM (SELECT episode_id, file_id, created_at FROM episode_files ORDER BY created_at DESC LIMIT :limit) AS came
CROSS JOIN library_files AS file CROSS JOIN episodes CROSS JOIN series
WHERE file.id = came.file_id AND file.is_missing = 0 AND episodes.id = came.episode_id AND series.id = episodes.series_id
ORDER BY came.created_at DESC, episodes.series_id, episodes.number DESC;

-- name: airing
SELECT episodes.series_id, series.season, episodes.kind, episodes.number, {shown_state} AS shown, episodes.aired_at
FROM episodes JOIN series ON series.id = episodes.series_id
WHERE episodes.aired_at >= :since AND episodes.aired_at < :until AND series.state = 'followed' AND series.merged_into IS NULL
ORDER BY episodes.aired_at, episodes.series_id, episodes.number LIMIT :limit;

-- name: files
-- The files of a series, how each came into its place, and as which release; one that lay there before has no placement.
SELECT {episode_file},
       (SELECT max(placement.method)
        FROM placement_episodes AS of_placement CROSS JOIN placements AS placement
        WHERE of_placement.episode_id = had.episode_id AND placement.id = of_placement.placement_id
            AND placement.library_id = file.library_id AND placement.target_path = file.relative_path),
       (SELECT link.title
        FROM placement_episodes AS of_placement CROSS JOIN placements AS placement CROSS JOIN downloads AS download
        CROSS JOIN anime_links AS link
        WHERE of_placement.episode_id = had.episode_id AND placement.id = of_placement.placement_id
            AND placement.library_id = file.library_id AND placement.target_path = file.relative_path
            AND placement.status = 'completed' AND download.id = placement.download_id AND link.id = download.link_id
        ORDER BY placement.id DESC LIMIT 1),
       CASE WHEN file.is_missing = 1 AND EXISTS (SELECT 1 FROM trash_entries AS entry
                                                 WHERE entry.file_id = file.id AND entry.left_at IS NULL) THEN 1 ELSE 0 END
FROM episodes CROSS JOIN episode_files AS had CROSS JOIN library_files AS file
WHERE episodes.series_id = :id AND had.episode_id = episodes.id AND file.id = had.file_id
ORDER BY had.episode_id, file.is_missing, file.relative_path;

-- name: shows_of_folders
-- As its keeper or a match says, and else by the first file below it that an episode is in.
SELECT given.value ->> 'folder', coalesce(
    (SELECT known.series_id FROM folder_matches AS known
     WHERE known.library_id = :library_id AND known.folder = given.value ->> 'folder'),
    (SELECT episodes.series_id
     FROM (SELECT file.id FROM library_files AS file
           WHERE file.library_id = :library_id AND file.relative_path >= given.value ->> 'begin'
               AND file.relative_path < given.value ->> 'end'
           ORDER BY file.relative_path LIMIT :looked_at) AS below
     CROSS JOIN episode_files AS had CROSS JOIN episodes
     WHERE had.file_id = below.id AND episodes.id = had.episode_id LIMIT 1))
FROM {given};

-- name: match_of_folders
SELECT known.id FROM {given} CROSS JOIN folder_matches AS known
WHERE known.library_id = :library_id AND known.folder = given.value ->> 'folder'
ORDER BY length(known.folder) DESC LIMIT 1;

-- name: series_of_record
SELECT id FROM series WHERE metadata_id = :id AND merged_into IS NULL ORDER BY id LIMIT 50;

-- name: matches_of_record
SELECT id FROM folder_matches WHERE metadata_id = :id ORDER BY id LIMIT 50;
