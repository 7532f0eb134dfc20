-- Files that were made to share their blocks take the room of one. `shared_inode` is the inode whose blocks a file uses; NULL
-- when it has its own. Whatever counts copies takes it for the file's inode.
ALTER TABLE library_files ADD COLUMN shared_inode INTEGER;

DROP TRIGGER tr_library_files_inserted;
DROP TRIGGER tr_library_files_joined;
DROP TRIGGER tr_library_files_left;
DROP TRIGGER tr_library_files_deleted;
DROP INDEX ix_library_files_copies;
DROP VIEW hashed_files;

CREATE VIEW hashed_files AS
SELECT id, library_id, relative_path, size_bytes, mtime_ns, device, coalesce(shared_inode, inode) AS inode, hash_algorithm,
       content_hash
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

CREATE INDEX ix_library_files_copies ON library_files (hash_algorithm, content_hash, device, coalesce(shared_inode, inode))
    WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

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
              AND other.device = new.device AND other.inode = coalesce(new.shared_inode, new.inode) AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_joined
AFTER UPDATE OF is_missing, needs_hash, hash_algorithm, content_hash, size_bytes, device, inode, shared_inode ON library_files
WHEN new.is_missing = 0 AND new.needs_hash = 0 AND new.hash_algorithm IS NOT NULL AND new.content_hash IS NOT NULL
BEGIN
    INSERT INTO duplicate_groups VALUES (new.hash_algorithm, new.content_hash, 1, new.size_bytes, 1)
    ON CONFLICT DO UPDATE SET
        file_count = file_count + 1,
        total_size_bytes = total_size_bytes + new.size_bytes,
        copies = copies + NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = new.hash_algorithm AND other.content_hash = new.content_hash
              AND other.device = new.device AND other.inode = coalesce(new.shared_inode, new.inode) AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_left
AFTER UPDATE OF is_missing, needs_hash, hash_algorithm, content_hash, size_bytes, device, inode, shared_inode ON library_files
WHEN old.is_missing = 0 AND old.needs_hash = 0 AND old.hash_algorithm IS NOT NULL AND old.content_hash IS NOT NULL
BEGIN
    UPDATE duplicate_groups SET
        file_count = file_count - 1,
        total_size_bytes = total_size_bytes - old.size_bytes,
        copies = copies - NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = old.hash_algorithm AND other.content_hash = old.content_hash
              AND other.device = old.device AND other.inode = coalesce(old.shared_inode, old.inode) AND other.id <> old.id
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
              AND other.device = old.device AND other.inode = coalesce(old.shared_inode, old.inode) AND other.id <> old.id
        )
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash;
    DELETE FROM duplicate_groups
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash AND file_count = 0;
END;
