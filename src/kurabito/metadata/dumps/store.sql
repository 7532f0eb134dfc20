-- name: add
INSERT INTO offline_dumps (source, number, facts)
SELECT :source, CAST(value ->> 0 AS bigint), value ->> 1 FROM {given};

-- name: facts
SELECT facts FROM offline_dumps
WHERE source = :source AND number >= CAST(:first AS bigint) AND number < CAST(:behind AS bigint) ORDER BY number;

-- name: edition
SELECT edition FROM offline_imports WHERE source = :source;

-- name: editions
SELECT source, edition FROM offline_imports ORDER BY source;

-- name: others
-- What lies outside of an edition: the one before, or what an import that was interrupted left.
SELECT number FROM offline_dumps
WHERE source = :source AND (number < CAST(:first AS bigint) OR number >= CAST(:behind AS bigint))
ORDER BY number LIMIT :limit;

-- name: forget
DELETE FROM offline_dumps
WHERE source = :source AND number IN (SELECT CAST(value ->> 0 AS bigint) FROM {given});

-- name: forget_all
DELETE FROM offline_dumps WHERE source = :source;

-- name: note_import
INSERT INTO offline_imports (source, file_name, entries, skipped, imported_at, edition, joined_at)
VALUES (:source, :file_name, :entries, :skipped, :now, :edition, NULL)
ON CONFLICT (source) DO UPDATE
SET file_name = excluded.file_name, entries = excluded.entries, skipped = excluded.skipped,
    imported_at = excluded.imported_at, edition = excluded.edition, joined_at = NULL;

-- name: note_joined
UPDATE offline_imports SET joined_at = :now;

-- name: any_unjoined
SELECT 1 FROM offline_imports WHERE joined_at IS NULL LIMIT 1;
