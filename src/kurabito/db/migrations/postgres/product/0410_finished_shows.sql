-- The show that a feed was followed for, and since when that show is over and complete: its feed is not read then.
ALTER TABLE subscriptions ADD COLUMN show_id bigint REFERENCES series (id) ON DELETE SET NULL;
ALTER TABLE subscriptions ADD COLUMN finished_at bigint;
CREATE INDEX ix_subscriptions_show ON subscriptions (show_id) WHERE show_id IS NOT NULL;
