-- Since when a downloader does not answer polls: an idle one that died is shown at once, and not after several polls.
ALTER TABLE service_modules ADD COLUMN unreachable_since INTEGER;
