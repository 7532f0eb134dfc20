-- Feeds that stand by: they are read when the one that they stand in for was silent for some days.
CREATE TABLE standby_subscriptions (
    subscription_id INTEGER NOT NULL PRIMARY KEY REFERENCES subscriptions (id) ON DELETE CASCADE,
    stands_in_for   INTEGER NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    silent_days     INTEGER NOT NULL,
    took_over_at    INTEGER
);

CREATE INDEX ix_standby_subscriptions_for ON standby_subscriptions (stands_in_for);
