-- The history is read from these tables by the times at which things happened.
CREATE INDEX ix_anime_links_created ON anime_links (created_at, id);
CREATE INDEX ix_downloads_created ON downloads (created_at, id);
CREATE INDEX ix_downloads_completed ON downloads (completed_at, id) WHERE completed_at IS NOT NULL;
CREATE INDEX ix_downloads_failed ON downloads (updated_at, id) WHERE status = 'failed';
CREATE INDEX ix_downloads_cancelled ON downloads (updated_at, id) WHERE status = 'cancelled';
CREATE INDEX ix_downloads_forgotten ON downloads (forgotten_at, id) WHERE forgotten_at IS NOT NULL;
CREATE INDEX ix_dispatch_attempts_accepted ON dispatch_attempts (sent_at, id) WHERE outcome = 'accepted';
CREATE INDEX ix_placements_finished ON placements (finished_at, id) WHERE status = 'completed';
CREATE INDEX ix_trash_entries_time ON trash_entries (trashed_at, id);
