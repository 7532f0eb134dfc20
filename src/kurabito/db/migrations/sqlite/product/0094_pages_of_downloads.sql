-- Pages of downloads by downloader, and by downloader and state, in the order of their ids.
DROP INDEX ix_downloads_module;
CREATE INDEX ix_downloads_module ON downloads (module_id, id);
CREATE INDEX ix_downloads_module_status ON downloads (module_id, status, id);
