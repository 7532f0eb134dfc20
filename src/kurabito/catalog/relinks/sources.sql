-- name: index_at
SELECT max(imported_at) FROM (
    SELECT imported_at FROM index_imports UNION ALL SELECT imported_at FROM offline_imports) AS imports;

-- name: read_by
SELECT parser, index_at FROM links_read_by;

-- name: any_link
SELECT 1 FROM anime_links LIMIT 1;

-- name: note
INSERT INTO links_read_by (id, parser, index_at) VALUES (1, :parser, :index_at)
ON CONFLICT (id) DO UPDATE SET parser = excluded.parser, index_at = excluded.index_at;
