-- name: later_seasons
-- Followed seasons after the first for which no person set an offset, with the record of each.
SELECT id, title, season, metadata_id FROM series
WHERE kind = 'tv' AND season > 1 AND episode_offset = 0 AND is_offset_said = 0 AND state = 'followed' AND merged_into IS NULL
    AND (CAST(:id AS bigint) IS NULL OR id = :id)
ORDER BY id;

-- name: numbers
SELECT episode.series_id, episode.number FROM {given} CROSS JOIN episodes AS episode
WHERE episode.series_id = CAST(given.value ->> 0 AS bigint) AND episode.kind = 'tv'
    AND EXISTS (SELECT 1 FROM anime_links AS link WHERE link.episode_id = episode.id);

-- name: before
-- How many episodes came before a season: those of the season before it, and what that counts on from itself.
SELECT mine.series_id, max(earlier.episode_offset + record.episode_count)
FROM {given} CROSS JOIN series_aliases AS mine
JOIN series_aliases AS theirs
    ON theirs.folded = mine.folded AND theirs.kind = mine.kind AND theirs.season = mine.season - 1
JOIN series AS earlier ON earlier.id = theirs.series_id
JOIN metadata AS record ON record.id = earlier.metadata_id
WHERE mine.series_id = CAST(given.value ->> 0 AS bigint) AND record.episode_count IS NOT NULL
GROUP BY mine.series_id;

-- name: say
UPDATE series SET is_offset_said = 1 WHERE id = :id;
