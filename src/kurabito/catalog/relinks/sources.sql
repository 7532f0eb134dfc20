-- name: index_at
-- When the index was made of an import, not when its file was stored. An index of an older version says only the latter.
SELECT max(made_at) FROM (
    SELECT joined_at AS made_at FROM offline_imports UNION ALL
    SELECT imported_at FROM index_imports
    WHERE NOT EXISTS (SELECT 1 FROM offline_imports WHERE source = 'bangumi-data')) AS imports;

-- name: read_by
SELECT parser, index_at FROM links_read_by;

-- name: any_link
SELECT 1 FROM anime_links LIMIT 1;

-- name: note
INSERT INTO links_read_by (id, parser, index_at) VALUES (1, :parser, :index_at)
ON CONFLICT (id) DO UPDATE SET parser = excluded.parser, index_at = excluded.index_at;
