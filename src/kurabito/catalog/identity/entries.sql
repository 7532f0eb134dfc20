-- name: named
-- Shows of the offline index by their names; films and extras are counted apart.
SELECT mine.folded, entry.id, entry.title, entry.episode_count
FROM {given} CROSS JOIN offline_titles AS mine CROSS JOIN offline_entries AS entry
WHERE mine.folded = given.value ->> 0 AND entry.id = mine.entry_id AND entry.kind IN ('tv', 'web');

-- name: series_of
-- A series that has a name of an entry which is no other entry's.
SELECT alias.series_id FROM offline_titles AS mine JOIN series_aliases AS alias ON alias.folded = mine.folded AND alias.kind = 'tv'
WHERE mine.entry_id = :id
    AND NOT EXISTS (SELECT 1 FROM offline_titles AS other WHERE other.folded = mine.folded AND other.entry_id <> mine.entry_id)
LIMIT 1;
