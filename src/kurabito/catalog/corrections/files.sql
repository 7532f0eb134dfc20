-- name: placed_for_links
-- Files on their way, or placed, that were downloaded for some links; a batch was downloaded once for all of its links.
SELECT DISTINCT has.placement_id, has.episode_id, CAST(given.value ->> 'after' AS bigint)
FROM {given} CROSS JOIN downloads AS mine
JOIN downloads AS download ON download.id = mine.id OR (download.hash = mine.hash AND download.module_id = mine.module_id)
JOIN placements AS placement ON placement.download_id = download.id
JOIN placement_episodes AS has ON has.placement_id = placement.id
WHERE mine.link_id = CAST(given.value ->> 'link' AS bigint) AND has.episode_id = CAST(given.value ->> 'before' AS bigint)
    AND NOT EXISTS (SELECT 1 FROM placement_episodes AS other
                    WHERE other.placement_id = has.placement_id
                        AND other.episode_id = CAST(given.value ->> 'after' AS bigint));

-- name: files_of_links
SELECT DISTINCT had.file_id, had.episode_id, CAST(given.value ->> 'after' AS bigint)
FROM {given} CROSS JOIN downloads AS mine
JOIN downloads AS download ON download.id = mine.id OR (download.hash = mine.hash AND download.module_id = mine.module_id)
JOIN placements AS placement ON placement.download_id = download.id
JOIN library_files AS file ON file.library_id = placement.library_id AND file.relative_path = placement.target_path
JOIN episode_files AS had ON had.file_id = file.id
WHERE mine.link_id = CAST(given.value ->> 'link' AS bigint) AND had.episode_id = CAST(given.value ->> 'before' AS bigint)
    AND NOT EXISTS (SELECT 1 FROM episode_files AS other
                    WHERE other.file_id = had.file_id AND other.episode_id = CAST(given.value ->> 'after' AS bigint));

-- name: placed_for_episodes
SELECT has.placement_id, has.episode_id, CAST(given.value ->> 'after' AS bigint)
FROM {given} CROSS JOIN placement_episodes AS has
WHERE has.episode_id = CAST(given.value ->> 'before' AS bigint)
    AND NOT EXISTS (SELECT 1 FROM placement_episodes AS other
                    WHERE other.placement_id = has.placement_id
                        AND other.episode_id = CAST(given.value ->> 'after' AS bigint));

-- name: files_of_episodes
SELECT had.file_id, had.episode_id, CAST(given.value ->> 'after' AS bigint)
FROM {given} CROSS JOIN episode_files AS had
WHERE had.episode_id = CAST(given.value ->> 'before' AS bigint)
    AND NOT EXISTS (SELECT 1 FROM episode_files AS other
                    WHERE other.file_id = had.file_id AND other.episode_id = CAST(given.value ->> 'after' AS bigint));

-- name: place
SELECT mine.library_id FROM series_places AS mine
WHERE mine.series_id = :id AND NOT EXISTS (SELECT 1 FROM series_places AS other WHERE other.series_id = :into);
