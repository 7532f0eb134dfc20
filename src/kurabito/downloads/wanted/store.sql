-- name: followed
-- Shows whose episodes are expected: followed, and with a record that says which there are.
SELECT series.id, series.metadata_id FROM series
WHERE series.state = 'followed' AND series.kind = 'tv' AND series.metadata_id IS NOT NULL AND series.merged_into IS NULL
ORDER BY series.id;

-- name: expect
INSERT INTO episodes (series_id, kind, number, aired_at, created_at, updated_at)
SELECT CAST(given.value ->> 'series_id' AS bigint), 'tv', CAST(given.value ->> 'number' AS double precision),
       CAST(given.value ->> 'aired_at' AS bigint), :now, :now
FROM {given} WHERE true
ON CONFLICT (series_id, kind, number) DO UPDATE SET aired_at = excluded.aired_at
    WHERE episodes.aired_at IS NULL OR episodes.aired_at <> excluded.aired_at;

-- name: missing
-- Shown, and neither had nor under way. An episode whose day is not known was released, so it was shown; so was one that is
-- released before the end of its day. What has no day, no release and no file is a number that a correction took back. A batch
-- that names no episodes may bring any of them.
SELECT {wanted} FROM episodes JOIN series ON series.id = episodes.series_id
LEFT JOIN wanted_searches AS search ON search.episode_id = episodes.id
WHERE episodes.state = 'wanted' AND series.state = 'followed' AND series.merged_into IS NULL
    AND episodes.kind IN ('tv', 'movie')
    AND (episodes.aired_at <= :now OR EXISTS (SELECT 1 FROM anime_links AS link WHERE link.episode_id = episodes.id)
        OR EXISTS (SELECT 1 FROM episode_files AS had WHERE had.episode_id = episodes.id)
        OR EXISTS (SELECT 1 FROM placement_episodes AS placed WHERE placed.episode_id = episodes.id))
    AND NOT {unwanted}
    AND NOT EXISTS (SELECT 1 FROM conflicts AS conflict WHERE conflict.episode_id = episodes.id AND conflict.status <> 'resolved')
    AND NOT EXISTS (SELECT 1 FROM anime_links AS batch CROSS JOIN downloads AS download
                    WHERE batch.series_id = series.id AND batch.episode_id IS NULL AND batch.is_batch = 1
                        AND download.link_id = batch.id AND download.status IN ('pending', 'downloading', 'downloader_error'))
    {narrowed}
ORDER BY coalesce(episodes.aired_at, episodes.created_at) DESC, episodes.id DESC LIMIT :limit;

-- name: upgradable
-- Had by a download of ours, by shows that want better ones.
SELECT {wanted} FROM episodes JOIN series ON series.id = episodes.series_id
JOIN release_profiles AS profile
    ON profile.id = coalesce(series.profile_id, (SELECT usual.id FROM release_profiles AS usual WHERE usual.is_default = 1))
LEFT JOIN wanted_searches AS search ON search.episode_id = episodes.id
WHERE episodes.state = 'have' AND series.state = 'followed' AND series.merged_into IS NULL AND profile.upgrade = 1
    AND NOT {unwanted}
    AND EXISTS (SELECT 1 FROM anime_links AS link CROSS JOIN downloads AS download
                WHERE link.episode_id = episodes.id AND download.link_id = link.id AND download.status = 'completed'
                    AND download.given_back_at IS NULL)
    {narrowed}
ORDER BY coalesce(episodes.aired_at, episodes.created_at) DESC, episodes.id DESC LIMIT :limit;

-- name: links
-- What is known of these episodes that could be taken, and what keeps it.
SELECT link.episode_id, count(*), sum(link.is_filtered), sum(CASE WHEN link.held_reason IS NULL THEN 0 ELSE 1 END),
       sum(CASE WHEN link.held_reason = 'in_doubt' THEN 1 ELSE 0 END),
       sum(CASE WHEN EXISTS (SELECT 1 FROM downloads AS download WHERE download.link_id = link.id AND download.status = 'failed')
           THEN 1 ELSE 0 END)
FROM {given} CROSS JOIN anime_links AS link
WHERE link.episode_id = CAST(given.value AS bigint)
GROUP BY link.episode_id;

-- name: in_doubt
-- Of these shows, those about which a question is open: what is found for them may be of another.
SELECT DISTINCT link.series_id FROM {given} CROSS JOIN anime_links AS link
WHERE link.series_id = CAST(given.value AS bigint) AND link.question_id IS NOT NULL AND link.held_reason = 'in_doubt';

-- name: count_asking
-- Episodes whose best release is not taken unasked: it is very large, or takes from what is to stay free on the disk.
SELECT count(*) FROM wanted_searches AS search JOIN episodes ON episodes.id = search.episode_id
JOIN series ON series.id = episodes.series_id
WHERE search.outcome IN ('too_large', 'no_room') AND episodes.state = 'wanted' AND series.state = 'followed';

-- name: ask
INSERT INTO wanted_searches (episode_id, is_asked, next_at)
SELECT CAST(given.value AS bigint), 1, :now FROM {given} WHERE true
ON CONFLICT (episode_id) DO UPDATE SET is_asked = 1, next_at = :now;

-- name: note
INSERT INTO wanted_searches (episode_id, searches, outcome, searched_at, next_at)
SELECT CAST(given.value ->> 'episode_id' AS bigint), CAST(given.value ->> 'searches' AS integer), given.value ->> 'outcome', :now,
       :now + CAST(given.value ->> 'pause' AS bigint)
FROM {given} WHERE true
ON CONFLICT (episode_id) DO UPDATE
SET searches = excluded.searches, is_asked = 0, outcome = excluded.outcome, searched_at = excluded.searched_at,
    next_at = excluded.next_at;

-- name: count_queries
SELECT count(*) FROM wanted_queries WHERE asked_at > :now - CAST(:hour AS bigint);

-- name: add_query
INSERT INTO wanted_queries (asked_at) VALUES (:now);

-- name: forget_queries
DELETE FROM wanted_queries WHERE asked_at <= :now - CAST(:hour AS bigint);

-- name: is_automatic
SELECT is_automatic FROM wanted_policy WHERE id = 1;

-- name: set_automatic
UPDATE wanted_policy SET is_automatic = :is_automatic WHERE id = 1;

-- name: set_series_automatic
UPDATE series SET automatic_search = :is_automatic, updated_at = :now WHERE id = :series_id;

-- name: series_automatic
SELECT automatic_search FROM series WHERE id = :series_id;

-- name: extent
-- How many episodes of a show are still to be shown, and when the last one was.
SELECT sum(CASE WHEN coalesce(aired_at, 0) > :now THEN 1 ELSE 0 END), max(coalesce(aired_at, 0)) FROM episodes
WHERE series_id = :series_id AND kind = 'tv';
