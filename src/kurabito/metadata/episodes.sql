-- name: keep
INSERT INTO episode_lists (source, entry, episodes, read_at)
SELECT :source, given.value ->> 'entry', given.value ->> 'episodes', :now FROM {given} WHERE true
ON CONFLICT (source, entry) DO UPDATE SET episodes = excluded.episodes, read_at = excluded.read_at;

-- name: entries
SELECT entry FROM episode_lists WHERE source = :source;

-- name: forget
DELETE FROM episode_lists WHERE source = :source AND entry IN (SELECT value ->> 0 FROM {given});

-- name: lists
SELECT episode_lists.source, episode_lists.episodes, episode_lists.read_at
FROM {given} CROSS JOIN episode_lists
WHERE episode_lists.source = given.value ->> 'source' AND episode_lists.entry = given.value ->> 'entry';
