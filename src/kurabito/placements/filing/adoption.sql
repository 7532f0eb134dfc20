-- name: due
SELECT match.id, match.library_id, match.folder, min(series.id)
FROM folder_matches AS match
JOIN library_roots AS library ON library.id = match.library_id
JOIN series ON series.id = match.series_id OR series.metadata_id = match.metadata_id
LEFT JOIN folder_adoptions AS adoption ON adoption.match_id = match.id
WHERE match.is_ignored = 0 AND library.removing_since IS NULL AND library.last_scanned_at IS NOT NULL
    AND (adoption.adopted_at IS NULL OR adoption.adopted_at < match.updated_at
         OR adoption.adopted_at < library.last_scanned_at OR adoption.adopted_at < series.created_at)
GROUP BY match.id, match.library_id, match.folder
ORDER BY match.id LIMIT 20;

-- name: files
SELECT id, relative_path, size_bytes FROM library_files
WHERE library_id = :library_id AND relative_path > :first AND relative_path < :beyond AND is_missing = 0
ORDER BY relative_path LIMIT 5000;

-- name: add_episodes
INSERT INTO episodes (series_id, kind, number, state, created_at, updated_at)
SELECT DISTINCT CAST(:series_id AS bigint), given.value ->> 'kind', CAST(given.value ->> 'number' AS double precision), 'have',
       CAST(:now AS bigint), CAST(:now AS bigint)
FROM {given} WHERE true
ON CONFLICT (series_id, kind, number) DO NOTHING;

-- name: add_files
INSERT INTO episode_files (episode_id, file_id, created_at)
SELECT episode.id, CAST(given.value ->> 'file_id' AS bigint), :now
FROM {given} CROSS JOIN episodes AS episode
WHERE episode.series_id = :series_id AND episode.kind = given.value ->> 'kind'
    AND episode.number = CAST(given.value ->> 'number' AS double precision)
ON CONFLICT DO NOTHING;

-- name: are_had
UPDATE episodes SET state = 'have', updated_at = :now
WHERE series_id = :series_id AND state = 'wanted' AND id IN (
    SELECT had.episode_id FROM {given} CROSS JOIN episode_files AS had
    WHERE had.file_id = CAST(given.value ->> 'file_id' AS bigint));

-- name: note
INSERT INTO folder_adoptions (match_id, adopted_at) VALUES (:match_id, :now)
ON CONFLICT (match_id) DO UPDATE SET adopted_at = excluded.adopted_at;
