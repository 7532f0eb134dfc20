-- name: page
SELECT link.id, link.release_key, link.raw_item_id, link.series_id, link.episode_id, episode.kind, episode.number, groups.name,
       link.title, link.url, link.hash, link.download_type, link.resolution, link.source, link.languages, link.version,
       link.size_bytes, link.is_batch, link.held_reason, link.is_filtered, link.filter_reason, link.created_at
FROM anime_links AS link
LEFT JOIN episodes AS episode ON episode.id = link.episode_id
LEFT JOIN groups ON groups.id = link.group_id
WHERE link.id < :before {filter}
ORDER BY link.id DESC LIMIT :limit;
