-- In the order of ids a new file goes to the end. In that of sizes it went anywhere, and a first scan spent half of its writing
-- on this index.
DROP INDEX ix_library_files_needs_hash;
CREATE INDEX ix_library_files_needs_hash ON library_files (library_id, id) WHERE needs_hash = 1 AND is_missing = 0;
