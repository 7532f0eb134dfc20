-- Who added something to its downloader: what its user did is only watched. NULL where the downloader does not tell.
ALTER TABLE downloads ADD COLUMN owner text CHECK (owner IN ('kurabito', 'user'));
ALTER TABLE dispatch_attempts ADD COLUMN owner text CHECK (owner IN ('kurabito', 'user'));

CREATE INDEX ix_dispatch_attempts_hash ON dispatch_attempts (hash, module_id);
