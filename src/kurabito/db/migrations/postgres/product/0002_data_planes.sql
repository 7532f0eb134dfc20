-- Who touches the disks. A row is believed until expires_at.
CREATE TABLE data_planes (
    name         text NOT NULL PRIMARY KEY,
    lines        text NOT NULL,
    version      text NOT NULL,
    started_at   bigint NOT NULL,
    heartbeat_at bigint NOT NULL,
    expires_at   bigint NOT NULL
);
