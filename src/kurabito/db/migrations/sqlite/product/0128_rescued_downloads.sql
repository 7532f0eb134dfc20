-- How often the task that was to send a download died: the first time it is sent at the next poll, later after a pause.
ALTER TABLE downloads ADD COLUMN rescues INTEGER NOT NULL DEFAULT 0;
