-- name: file
SELECT {file}, file.library_id, file.created_at, file.hashed_at FROM library_files AS file {same} WHERE file.id = :id;

-- name: episodes
SELECT episodes.id, episodes.series_id, episodes.kind, episodes.number
FROM episode_files AS had JOIN episodes ON episodes.id = had.episode_id
WHERE had.file_id = :id ORDER BY episodes.series_id, episodes.kind DESC, episodes.number LIMIT 100;

-- name: placements
SELECT placement.id, placement.method, placement.finished_at, placement.source_root, placement.source_path,
       placement.download_id, link.title
FROM placements AS placement
LEFT JOIN downloads AS download ON download.id = placement.download_id
LEFT JOIN anime_links AS link ON link.id = download.link_id
WHERE placement.library_id = :library_id AND placement.target_path = :path AND placement.status = 'completed'
ORDER BY placement.finished_at DESC, placement.id DESC LIMIT 50;

-- name: trashed
SELECT id, trashed_at, left_as, left_at, successor_path FROM trash_entries
WHERE file_id = :id ORDER BY trashed_at DESC, id DESC LIMIT 50;
