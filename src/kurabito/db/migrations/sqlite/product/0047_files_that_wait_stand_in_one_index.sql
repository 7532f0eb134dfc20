-- What waits for a hash stands in one index: either nobody tried to read it yet, or it is to be tried again. Files that a scan
-- adds were written into two of them.
DROP INDEX ix_library_files_needs_hash;
DROP INDEX ix_library_files_unread;
CREATE INDEX ix_library_files_unread ON library_files (library_id, id)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NULL;
CREATE INDEX ix_library_files_unreadable ON library_files (library_id, id)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NOT NULL;
