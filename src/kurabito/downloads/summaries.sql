-- name: of_links
-- The last download of each link that is still shown.
SELECT download.link_id, download.id, download.status, download.progress
FROM {given} CROSS JOIN downloads AS download
WHERE download.link_id = CAST(given.value ->> 'id' AS bigint) AND download.forgotten_at IS NULL
ORDER BY download.id;
