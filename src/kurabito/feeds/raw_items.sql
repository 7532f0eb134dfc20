-- name: known
-- CROSS JOIN keeps SQLite from reading the whole subscription first.
SELECT item.identity, item.status
FROM {given} CROSS JOIN raw_anime_items AS item
WHERE item.subscription_id = :subscription_id AND item.identity = given.value ->> 'identity';

-- name: add
INSERT INTO raw_anime_items (subscription_id, identity, title, description, download_url, pub_date, size_bytes, info_hash,
                             fetcher_source, status, reason, release_key, created_at, updated_at)
SELECT :subscription_id, given.value ->> 'identity', given.value ->> 'title', given.value ->> 'description',
       given.value ->> 'download_url', CAST(given.value ->> 'pub_date' AS bigint),
       CAST(given.value ->> 'size_bytes' AS bigint), given.value ->> 'info_hash', :fetcher_source,
       given.value ->> 'status', given.value ->> 'reason', given.value ->> 'release_key', :now, :now
FROM {given} WHERE true
ON CONFLICT (subscription_id, identity) DO NOTHING
RETURNING id, identity;

-- name: mark_parsed
-- Where two programs read it again, only the first changes it.
UPDATE raw_anime_items SET status = 'parsed', reason = NULL, release_key = :release_key, updated_at = :now
WHERE id = :id AND status = 'failed';

-- name: page
SELECT {item}
FROM raw_anime_items
WHERE id < :before {filter}
ORDER BY id DESC LIMIT :limit;
