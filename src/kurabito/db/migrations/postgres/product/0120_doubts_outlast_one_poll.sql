-- How many polls in a row did not find what an attempt may have left at its downloader. Two of them settle the doubt.
ALTER TABLE dispatch_attempts ADD COLUMN missed_polls integer NOT NULL DEFAULT 0;
