-- Who touches the disks. A row is believed until expires_at.
CREATE TABLE data_planes (
    name         TEXT NOT NULL PRIMARY KEY,
    lines        TEXT NOT NULL,
    version      TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
);
