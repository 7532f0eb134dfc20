-- The columns that duplicate groups are made of, and the index that they are read from.
ALTER TABLE library_files ADD COLUMN IF NOT EXISTS is_missing integer NOT NULL DEFAULT 0 CHECK (is_missing IN (0, 1));
ALTER TABLE library_files ADD COLUMN IF NOT EXISTS needs_hash integer NOT NULL DEFAULT 1 CHECK (needs_hash IN (0, 1));
ALTER TABLE library_files ADD COLUMN IF NOT EXISTS hash_algorithm text CHECK (hash_algorithm IN ('blake3', 'sha256'));
ALTER TABLE library_files ADD COLUMN IF NOT EXISTS content_hash bytea;

CREATE INDEX ix_library_files_dedup_group ON library_files (hash_algorithm, content_hash, id)
    WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;
CREATE INDEX ix_library_files_needs_hash ON library_files (library_id, size_bytes, id)
    WHERE needs_hash = 1 AND is_missing = 0;
