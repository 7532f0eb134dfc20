-- name: forget
DELETE FROM offline_dumps WHERE source = :source;

-- name: add
INSERT INTO offline_dumps (source, number, facts)
SELECT :source, CAST(value ->> 0 AS bigint), value ->> 1 FROM {given};

-- name: facts
SELECT facts FROM offline_dumps WHERE source = :source ORDER BY number;

-- name: note_import
INSERT INTO offline_imports (source, file_name, entries, skipped, imported_at)
VALUES (:source, :file_name, :entries, :skipped, :now)
ON CONFLICT (source) DO UPDATE
SET file_name = excluded.file_name, entries = excluded.entries, skipped = excluded.skipped,
    imported_at = excluded.imported_at;

-- name: imports
SELECT source, file_name, entries, skipped, imported_at FROM offline_imports ORDER BY source;
