-- A download whose torrent file could not be fetched is tried again at `retry_at`; `tries` is how often it was in vain.
ALTER TABLE downloads ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE downloads ADD COLUMN retry_at INTEGER;

-- What a downloader refused it may take later.
ALTER TABLE dispatch_attempts ADD COLUMN may_pass INTEGER NOT NULL DEFAULT 0 CHECK (may_pass IN (0, 1));
