-- Files that their keeper deleted: no copy of them has to be there when they are purged.
ALTER TABLE trash_entries ADD COLUMN is_discarded integer NOT NULL DEFAULT 0;
