-- Which version of the planes' protocol this database speaks. Another major is another contract: a data plane that speaks it
-- is refused here, whatever program it is.
CREATE TABLE protocol_version (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    major      INTEGER NOT NULL,
    minor      INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
INSERT INTO protocol_version VALUES (1, 1, 0, 0);

ALTER TABLE data_planes ADD COLUMN protocol TEXT NOT NULL DEFAULT '';
ALTER TABLE data_planes ADD COLUMN capabilities TEXT NOT NULL DEFAULT '[]';

-- A plane that names no version is of a release before it, or knows nothing of the protocol.
CREATE TRIGGER tr_data_planes_registered BEFORE INSERT ON data_planes
WHEN CAST(new.protocol AS INTEGER) <> (SELECT major FROM protocol_version)
BEGIN
    SELECT RAISE(ABORT, 'VER-2: this database speaks another major version of the protocol; see protocol_version');
END;
CREATE TRIGGER tr_data_planes_renewed BEFORE UPDATE OF protocol ON data_planes
WHEN CAST(new.protocol AS INTEGER) <> (SELECT major FROM protocol_version)
BEGIN
    SELECT RAISE(ABORT, 'VER-2: this database speaks another major version of the protocol; see protocol_version');
END;

-- The few scans that are under way, among all that ever were.
CREATE INDEX ix_scan_sessions_running ON scan_sessions (job_id) WHERE status = 'running';
