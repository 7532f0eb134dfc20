-- Episodes that their keeper does not want, whatever is wanted of their series.
ALTER TABLE episodes ADD COLUMN is_unwanted INTEGER NOT NULL DEFAULT 0;

-- What became of a file that is not there.
CREATE INDEX ix_trash_entries_file ON trash_entries (file_id);
