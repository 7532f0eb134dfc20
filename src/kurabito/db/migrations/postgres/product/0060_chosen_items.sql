-- Of the items that were in a feed before it was followed, those that are wanted: guids or URLs, a JSON list.
ALTER TABLE subscriptions ADD COLUMN chosen text NOT NULL DEFAULT '[]';
