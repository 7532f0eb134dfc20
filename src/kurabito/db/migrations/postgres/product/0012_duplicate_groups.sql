-- The files that count when duplicates are looked for.
CREATE VIEW hashed_files AS
SELECT id, library_id, relative_path, size_bytes, mtime_ns, device, inode, hash_algorithm, content_hash
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

-- What the pages of duplicates read, so that the thousandth costs what the first one does. Kept by triggers, so that it is
-- right whoever writes the files. `copies` counts hard links to the same file once.
CREATE TABLE duplicate_groups (
    hash_algorithm   text   NOT NULL,
    content_hash     bytea  NOT NULL,
    file_count       bigint NOT NULL,
    total_size_bytes bigint NOT NULL,
    copies           bigint NOT NULL,
    PRIMARY KEY (hash_algorithm, content_hash)
);

CREATE INDEX ix_duplicate_groups_order
    ON duplicate_groups (file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash) WHERE file_count > 1;
CREATE INDEX ix_duplicate_groups_reclaimable
    ON duplicate_groups (file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash) WHERE copies > 1;

-- Two transactions that count the same group at once would each miss the other's files. So the groups are locked first, in
-- one order for all, and counted in a statement of its own, which sees what was committed while it waited.
CREATE FUNCTION count_duplicate_groups(algorithms text[], hashes bytea[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO duplicate_groups
    SELECT DISTINCT touched.hash_algorithm, touched.content_hash, 0, 0, 0
    FROM unnest(algorithms, hashes) AS touched (hash_algorithm, content_hash)
    ORDER BY 1, 2
    ON CONFLICT (hash_algorithm, content_hash) DO UPDATE SET file_count = duplicate_groups.file_count;

    UPDATE duplicate_groups AS shown
    SET file_count = counted.file_count, total_size_bytes = counted.total_size_bytes, copies = counted.copies
    FROM (
        SELECT touched.hash_algorithm, touched.content_hash, count(files.id) AS file_count,
               coalesce(sum(files.size_bytes), 0) AS total_size_bytes,
               count(files.id) - count(files.inode) + count(DISTINCT (files.device, files.inode))
                   FILTER (WHERE files.inode IS NOT NULL) AS copies
        FROM (SELECT DISTINCT * FROM unnest(algorithms, hashes) AS given (hash_algorithm, content_hash)) AS touched
        LEFT JOIN hashed_files AS files USING (hash_algorithm, content_hash)
        GROUP BY touched.hash_algorithm, touched.content_hash
    ) AS counted
    WHERE shown.hash_algorithm = counted.hash_algorithm AND shown.content_hash = counted.content_hash;

    DELETE FROM duplicate_groups AS shown
    USING unnest(algorithms, hashes) AS touched (hash_algorithm, content_hash)
    WHERE shown.hash_algorithm = touched.hash_algorithm AND shown.content_hash = touched.content_hash
      AND shown.file_count = 0;
END $$;

CREATE FUNCTION note_inserted_files() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM count_duplicate_groups(array_agg(hash_algorithm), array_agg(content_hash))
    FROM added WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END $$;

CREATE FUNCTION note_deleted_files() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM count_duplicate_groups(array_agg(hash_algorithm), array_agg(content_hash))
    FROM gone WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END $$;

CREATE FUNCTION note_changed_files() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM count_duplicate_groups(array_agg(hash_algorithm), array_agg(content_hash))
    FROM (
        SELECT hash_algorithm, content_hash FROM gone
        WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
        UNION
        SELECT hash_algorithm, content_hash FROM added
        WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
    ) AS touched
    HAVING count(*) > 0;
    RETURN NULL;
END $$;

CREATE TRIGGER tr_library_files_inserted AFTER INSERT ON library_files
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_inserted_files();
CREATE TRIGGER tr_library_files_changed AFTER UPDATE ON library_files
    REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_changed_files();
CREATE TRIGGER tr_library_files_deleted AFTER DELETE ON library_files
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_files();
