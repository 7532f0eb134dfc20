-- Which rows of offline_dumps an import is made of, and when the index was made of it; NULL while that is not done.
ALTER TABLE offline_imports ADD COLUMN edition bigint NOT NULL DEFAULT 0;
ALTER TABLE offline_imports ADD COLUMN joined_at bigint;
