-- name: named
-- Shows of the offline index by their names; films and extras are counted apart.
SELECT mine.folded, entry.id, entry.title, entry.episode_count
FROM {given} CROSS JOIN offline_titles AS mine CROSS JOIN offline_entries AS entry
WHERE mine.folded = given.value ->> 0 AND entry.id = mine.entry_id AND entry.kind IN ('tv', 'web')
UNION ALL
-- A name that only titles have stands for the entry that another name of its series does.
SELECT known.folded, entry.id, entry.title, entry.episode_count
FROM {given} CROSS JOIN series_aliases AS known
JOIN series_aliases AS other ON other.series_id = known.series_id AND other.season = known.season
JOIN offline_titles AS mine ON mine.folded = other.folded
JOIN offline_entries AS entry ON entry.id = mine.entry_id AND entry.kind IN ('tv', 'web')
WHERE known.folded = given.value ->> 0 AND known.kind = 'tv' AND known.season = 1
    AND NOT EXISTS (SELECT 1 FROM offline_titles AS own WHERE own.folded = known.folded);

-- name: series_of
-- A series that has a name of an entry which is no other entry's.
SELECT alias.series_id FROM offline_titles AS mine JOIN series_aliases AS alias ON alias.folded = mine.folded AND alias.kind = 'tv'
WHERE mine.entry_id = :id
    AND NOT EXISTS (SELECT 1 FROM offline_titles AS other WHERE other.folded = mine.folded AND other.entry_id <> mine.entry_id)
LIMIT 1;
