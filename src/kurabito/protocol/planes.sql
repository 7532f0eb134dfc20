-- name: protocol
SELECT major, minor FROM protocol_version;

-- name: announce
INSERT INTO data_planes (name, lines, version, protocol, capabilities, started_at, heartbeat_at, expires_at)
VALUES (:name, :lines, :version, :protocol, :capabilities, :now, :now, :now + CAST(:lease AS bigint))
ON CONFLICT (name) DO UPDATE
SET lines = excluded.lines, version = excluded.version, protocol = excluded.protocol, capabilities = excluded.capabilities,
    heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at;

-- name: depart
DELETE FROM data_planes WHERE name = :name;

-- name: living
SELECT name, lines, version, protocol, capabilities, started_at, heartbeat_at FROM data_planes WHERE expires_at > :now ORDER BY name;

-- name: forget_dead
DELETE FROM data_planes WHERE expires_at <= :now;
