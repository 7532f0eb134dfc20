-- name: unnoted
SELECT id FROM placements WHERE status = 'completed' AND noted_at IS NULL ORDER BY id LIMIT 500;

-- name: add_files
INSERT INTO episode_files (episode_id, file_id, created_at)
SELECT of_placement.episode_id, file.id, :now
FROM placements AS placement JOIN placement_episodes AS of_placement ON of_placement.placement_id = placement.id
JOIN library_files AS file ON file.library_id = placement.library_id AND file.relative_path = placement.target_path
WHERE placement.id {among ids}
ON CONFLICT DO NOTHING;

-- name: are_had
UPDATE episodes SET state = 'have', updated_at = :now
WHERE state <> 'have' AND id IN (SELECT episode_id FROM placement_episodes WHERE placement_id {among ids});

-- name: follow_renamed
-- What took the place of a file in the trash may have another name now.
UPDATE trash_entries SET successor_path = (
    SELECT max(placement.target_path) FROM placements AS placement
    WHERE placement.id {among ids} AND placement.mode = 'rename' AND placement.library_id = trash_entries.library_id
        AND placement.source_path = trash_entries.successor_path)
WHERE left_at IS NULL AND successor_path IS NOT NULL AND EXISTS (
    SELECT 1 FROM placements AS placement
    WHERE placement.id {among ids} AND placement.mode = 'rename' AND placement.library_id = trash_entries.library_id
        AND placement.source_path = trash_entries.successor_path);

-- name: note
-- What was written lies in its file now.
UPDATE placements SET noted_at = :now, content = NULL WHERE id {among ids} AND status = 'completed';
