-- Which version of the planes' protocol this database speaks. Another major is another contract: a data plane that speaks it
-- is refused here, whatever program it is.
CREATE TABLE protocol_version (
    id         integer NOT NULL PRIMARY KEY CHECK (id = 1),
    major      integer NOT NULL,
    minor      integer NOT NULL,
    updated_at bigint  NOT NULL
);
INSERT INTO protocol_version VALUES (1, 1, 0, 0);

ALTER TABLE data_planes ADD COLUMN protocol text NOT NULL DEFAULT '';
ALTER TABLE data_planes ADD COLUMN capabilities text NOT NULL DEFAULT '[]';

-- A plane that names no version is of a release before it, or knows nothing of the protocol.
CREATE FUNCTION refuse_other_protocols() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF split_part(new.protocol, '.', 1) <> (SELECT major::text FROM protocol_version) THEN
        RAISE EXCEPTION 'VER-2: this database speaks another major version of the protocol; see protocol_version'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER tr_data_planes_registered BEFORE INSERT OR UPDATE OF protocol ON data_planes
    FOR EACH ROW EXECUTE FUNCTION refuse_other_protocols();

-- The few scans that are under way, among all that ever were.
CREATE INDEX ix_scan_sessions_running ON scan_sessions (job_id) WHERE status = 'running';
