-- What a hash would find in a library: files that nobody tried to read yet, and those that are to be tried again.
CREATE INDEX ix_library_files_unread ON library_files (library_id)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NULL;
CREATE INDEX ix_library_files_read_again ON library_files (library_id, hash_retry_after)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_error_count > 0;
