-- Files that were made to share their blocks take the room of one. `shared_inode` is the inode whose blocks a file uses; NULL
-- when it has its own. Whatever counts copies takes it for the file's inode.
ALTER TABLE library_files ADD COLUMN shared_inode bigint;

CREATE OR REPLACE VIEW hashed_files AS
SELECT id, library_id, relative_path, size_bytes, mtime_ns, device, coalesce(shared_inode, inode) AS inode, hash_algorithm,
       content_hash
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;
