-- name: count
-- Other dumps add entries of their own, which no file of bangumi-data has.
SELECT count(*) FROM offline_entries WHERE source = 'bangumi-data';

-- name: note_import
INSERT INTO index_imports (id, imported_at, entries, unknown_kinds, bad_rows, origin)
VALUES (1, :now, :entries, :unknown_kinds, :bad_rows, :origin)
ON CONFLICT (id) DO UPDATE
SET imported_at = excluded.imported_at, entries = excluded.entries, unknown_kinds = excluded.unknown_kinds,
    bad_rows = excluded.bad_rows, origin = excluded.origin;

-- name: last_import
SELECT {import} FROM index_imports;
