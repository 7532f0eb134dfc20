-- name: keep
INSERT INTO private_torrents (hash, content, created_at) VALUES (:hash, :content, :now)
ON CONFLICT (hash) DO UPDATE SET content = excluded.content, created_at = excluded.created_at;

-- name: forget_old
-- Those that no downloader is to get any more.
DELETE FROM private_torrents WHERE created_at < :now - CAST(:age AS bigint) AND NOT EXISTS (
    SELECT 1 FROM anime_links AS link JOIN downloads AS download ON download.link_id = link.id
    WHERE link.release_key = private_torrents.hash AND download.status IN ('pending', 'no_downloader', 'downloading'));

-- name: contents
SELECT torrent.hash, torrent.content FROM {given} CROSS JOIN private_torrents AS torrent
WHERE torrent.hash = given.value ->> 'hash';
