-- Where notifications go. The address has passwords and tokens in it: it is written and never shown.
CREATE TABLE notification_destinations (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('apprise', 'webhook')),
    name            TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    token           TEXT,
    kinds           TEXT    NOT NULL,
    language        TEXT    NOT NULL,
    quiet_from      TEXT,
    quiet_to        TEXT,
    is_enabled      INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_notification_destinations_name ON notification_destinations (name);

-- What a destination is to hear of, until it is told.
CREATE TABLE notification_outbox (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    destination_id INTEGER NOT NULL REFERENCES notification_destinations (id) ON DELETE CASCADE,
    kind           TEXT    NOT NULL,
    code           TEXT    NOT NULL,
    facts          TEXT    NOT NULL,
    noted_at       INTEGER NOT NULL
);

CREATE INDEX ix_notification_outbox_destination ON notification_outbox (destination_id, id);

-- The messages of a destination, and what became of them.
CREATE TABLE notification_deliveries (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    destination_id INTEGER NOT NULL REFERENCES notification_destinations (id) ON DELETE CASCADE,
    title          TEXT    NOT NULL,
    body           TEXT    NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('retrying', 'sent', 'failed')),
    attempts       INTEGER NOT NULL,
    error_code     TEXT,
    error_message  TEXT,
    created_at     INTEGER NOT NULL,
    ended_at       INTEGER
);

CREATE INDEX ix_notification_deliveries_destination ON notification_deliveries (destination_id, id);

-- What of the list of attention was told, and how much of it there was.
CREATE TABLE notified_subjects (
    subject  TEXT    NOT NULL PRIMARY KEY,
    size     INTEGER NOT NULL,
    noted_at INTEGER NOT NULL
);
