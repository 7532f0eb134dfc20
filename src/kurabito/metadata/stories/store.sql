-- name: get
SELECT summaries, backdrop_url, ended_on, refreshed_at FROM metadata_extras WHERE metadata_id = :id;

-- name: due
SELECT {record} FROM metadata LEFT JOIN metadata_extras ON metadata_extras.metadata_id = metadata.id
WHERE metadata.id > :after AND (metadata.bgm_id IS NOT NULL OR metadata.tmdb_id IS NOT NULL)
  AND (metadata_extras.due_at IS NULL OR metadata_extras.due_at <= :now OR metadata_extras.asked_by <> {asked_by})
ORDER BY metadata.id LIMIT :limit;

-- name: keep
INSERT INTO metadata_extras (metadata_id, asked_by, summaries, backdrop_url, ended_on, failures, refreshed_at, due_at)
SELECT metadata.id, {asked_by}, :summaries, CAST(:backdrop_url AS text), CAST(:ended_on AS text), 0, :now,
       CAST(:due_at AS bigint)
FROM metadata WHERE metadata.id = :id
ON CONFLICT (metadata_id) DO UPDATE
SET asked_by = excluded.asked_by, summaries = excluded.summaries, backdrop_url = excluded.backdrop_url,
    ended_on = excluded.ended_on, failures = 0, refreshed_at = excluded.refreshed_at, due_at = excluded.due_at;

-- name: note_failure
INSERT INTO metadata_extras (metadata_id, asked_by, summaries, failures, due_at)
SELECT metadata.id, {asked_by}, '{}', 1, :now + CAST(:first_after AS bigint) FROM metadata WHERE metadata.id = :id
ON CONFLICT (metadata_id) DO UPDATE
SET asked_by = excluded.asked_by, failures = metadata_extras.failures + 1,
    due_at = :now + CASE WHEN metadata_extras.failures > 5 THEN CAST(:most_after AS bigint)
                         ELSE CAST(:first_after AS bigint) * (metadata_extras.failures + 1) END;

-- name: remote
SELECT metadata_id, backdrop_url FROM metadata_extras
WHERE {is_remote} AND metadata_id > :after ORDER BY metadata_id LIMIT :limit;

-- name: keep_backdrop
UPDATE metadata_extras SET backdrop_url = :path WHERE metadata_id = :id AND backdrop_url = :url;
