-- The files that count when duplicates are looked for.
CREATE VIEW hashed_files AS
SELECT id, library_id, relative_path, size_bytes, mtime_ns, device, inode, hash_algorithm, content_hash
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

CREATE INDEX ix_library_files_copies ON library_files (hash_algorithm, content_hash, device, inode)
    WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

-- What the pages of duplicates read, so that the thousandth costs what the first one does. Kept by triggers, so that it is
-- right whoever writes the files. Each takes one file into account and looks at no others of its group: there may be a
-- hundred thousand. `copies` counts hard links to the same file once.
CREATE TABLE duplicate_groups (
    hash_algorithm   TEXT    NOT NULL,
    content_hash     BLOB    NOT NULL,
    file_count       INTEGER NOT NULL,
    total_size_bytes INTEGER NOT NULL,
    copies           INTEGER NOT NULL,
    PRIMARY KEY (hash_algorithm, content_hash)
) WITHOUT ROWID;

CREATE INDEX ix_duplicate_groups_order
    ON duplicate_groups (file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash) WHERE file_count > 1;
CREATE INDEX ix_duplicate_groups_reclaimable
    ON duplicate_groups (file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash) WHERE copies > 1;

INSERT INTO duplicate_groups
SELECT hash_algorithm, content_hash, count(*), sum(size_bytes),
       count(*) - count(inode) + count(DISTINCT device || ':' || inode)
FROM hashed_files GROUP BY hash_algorithm, content_hash;

CREATE TRIGGER tr_library_files_inserted AFTER INSERT ON library_files
WHEN new.is_missing = 0 AND new.needs_hash = 0 AND new.hash_algorithm IS NOT NULL AND new.content_hash IS NOT NULL
BEGIN
    INSERT INTO duplicate_groups VALUES (new.hash_algorithm, new.content_hash, 1, new.size_bytes, 1)
    ON CONFLICT DO UPDATE SET
        file_count = file_count + 1,
        total_size_bytes = total_size_bytes + new.size_bytes,
        copies = copies + NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = new.hash_algorithm AND other.content_hash = new.content_hash
              AND other.device = new.device AND other.inode = new.inode AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_joined
AFTER UPDATE OF is_missing, needs_hash, hash_algorithm, content_hash, size_bytes, device, inode ON library_files
WHEN new.is_missing = 0 AND new.needs_hash = 0 AND new.hash_algorithm IS NOT NULL AND new.content_hash IS NOT NULL
BEGIN
    INSERT INTO duplicate_groups VALUES (new.hash_algorithm, new.content_hash, 1, new.size_bytes, 1)
    ON CONFLICT DO UPDATE SET
        file_count = file_count + 1,
        total_size_bytes = total_size_bytes + new.size_bytes,
        copies = copies + NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = new.hash_algorithm AND other.content_hash = new.content_hash
              AND other.device = new.device AND other.inode = new.inode AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_left
AFTER UPDATE OF is_missing, needs_hash, hash_algorithm, content_hash, size_bytes, device, inode ON library_files
WHEN old.is_missing = 0 AND old.needs_hash = 0 AND old.hash_algorithm IS NOT NULL AND old.content_hash IS NOT NULL
BEGIN
    UPDATE duplicate_groups SET
        file_count = file_count - 1,
        total_size_bytes = total_size_bytes - old.size_bytes,
        copies = copies - NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = old.hash_algorithm AND other.content_hash = old.content_hash
              AND other.device = old.device AND other.inode = old.inode AND other.id <> old.id
        )
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash;
    DELETE FROM duplicate_groups
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash AND file_count = 0;
END;

CREATE TRIGGER tr_library_files_deleted AFTER DELETE ON library_files
WHEN old.is_missing = 0 AND old.needs_hash = 0 AND old.hash_algorithm IS NOT NULL AND old.content_hash IS NOT NULL
BEGIN
    UPDATE duplicate_groups SET
        file_count = file_count - 1,
        total_size_bytes = total_size_bytes - old.size_bytes,
        copies = copies - NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = old.hash_algorithm AND other.content_hash = old.content_hash
              AND other.device = old.device AND other.inode = old.inode AND other.id <> old.id
        )
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash;
    DELETE FROM duplicate_groups
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash AND file_count = 0;
END;
