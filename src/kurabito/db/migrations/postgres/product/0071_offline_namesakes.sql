-- All names of an entry: a release may be called by any of them.
CREATE INDEX ix_offline_titles_entry ON offline_titles (entry_id, folded);
