-- Files whose content may be that of another one of their size.
CREATE INDEX ix_library_files_twins ON library_files (size_bytes, edge_hash)
    WHERE is_missing = 0 AND (edge_hash IS NOT NULL OR content_hash IS NOT NULL);
