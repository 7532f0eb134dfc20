-- name: inspection
SELECT inspection.id, inspection.download_id, inspection.status, inspection.error_code, inspection.error_facts,
       inspection.planned_at IS NOT NULL, download.tidied_at
FROM downloads AS mine JOIN downloads AS download
    ON download.id = mine.id OR (download.hash = mine.hash AND download.module_id = mine.module_id)
JOIN inspections AS inspection ON inspection.download_id = download.id
WHERE mine.id = :download_id AND inspection.folder <> ''
ORDER BY inspection.id LIMIT 1;
