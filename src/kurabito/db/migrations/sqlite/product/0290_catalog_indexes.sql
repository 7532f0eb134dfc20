-- What a series page and its corrections ask for, by an index.

CREATE INDEX ix_placement_episodes_episode ON placement_episodes (episode_id);
CREATE INDEX ix_conflicts_episode ON conflicts (episode_id);
CREATE INDEX ix_conflicts_link ON conflicts (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX ix_identity_questions_series ON identity_questions (series_id) WHERE series_id IS NOT NULL;
CREATE INDEX ix_subscriptions_series ON subscriptions (series_id) WHERE series_id IS NOT NULL;
CREATE INDEX ix_offline_entries_mikan ON offline_entries (mikan_id) WHERE mikan_id IS NOT NULL;
CREATE INDEX ix_series_offset ON series (episode_offset) WHERE episode_offset > 0;
