-- What no program may write. What only the control plane may write is kept by the rights of the data planes' role.

-- A hash of another length is none, and is made again; what lies in a trash, or leads out of its library, is no file of it.
UPDATE library_files
SET needs_hash = 1, edge_hash = NULL, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL,
    hashed_mtime_ns = NULL, hashed_at = NULL
WHERE octet_length(content_hash) <> 32 OR octet_length(edge_hash) <> 32 OR (content_hash IS NULL) <> (hash_algorithm IS NULL);
DELETE FROM library_files
WHERE '/' || relative_path || '/' ~ '/\.{0,2}/' OR '/' || relative_path LIKE '%/.kurabito-trash/%';

ALTER TABLE library_files
    ADD CONSTRAINT path_below_library
        CHECK ('/' || relative_path || '/' !~ '/\.{0,2}/' AND '/' || relative_path NOT LIKE '%/.kurabito-trash/%'),
    ADD CONSTRAINT hash_of_its_length CHECK (
        (content_hash IS NULL OR octet_length(content_hash) = 32) AND (edge_hash IS NULL OR octet_length(edge_hash) = 32)
        AND (content_hash IS NULL) = (hash_algorithm IS NULL)
    ),
    ADD CONSTRAINT size_not_negative CHECK (size_bytes >= 0),
    ADD CONSTRAINT times_in_microseconds
        CHECK (created_at BETWEEN 0 AND 99999999999999999 AND updated_at BETWEEN 0 AND 99999999999999999);

-- Rows that are there already are not looked at: what they say of a file in the trash is all that is known of it.
ALTER TABLE trash_entries
    ADD CONSTRAINT trash_form CHECK (
        '/' || relative_path || '/' !~ '/\.{0,2}/' AND '/' || relative_path NOT LIKE '%/.kurabito-trash/%'
        AND '/' || trash_path LIKE '%/.kurabito-trash/%'
        AND octet_length(content_hash) = 32 AND size_bytes >= 0
    ) NOT VALID;

ALTER TABLE jobs
    ADD CONSTRAINT progress_in_range
        CHECK (progress BETWEEN 0 AND 1 AND processed_items >= 0 AND updated_at BETWEEN 0 AND 99999999999999999) NOT VALID;

-- A data plane registers before it claims. Its role does not own the tables; who does may claim for a test or a repair.
CREATE FUNCTION refuse_unregistered() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM data_planes WHERE name = split_part(new.worker_id, '#', 1)) AND NOT pg_has_role(
        current_user, (SELECT relowner FROM pg_class WHERE oid = tg_relid), 'MEMBER'
    ) THEN
        RAISE EXCEPTION 'REG-1: no data plane with the name in worker_id is registered in data_planes'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER tr_jobs_claims BEFORE UPDATE OF worker_id ON jobs FOR EACH ROW
    WHEN (new.worker_id IS NOT NULL AND new.worker_id IS DISTINCT FROM old.worker_id) EXECUTE FUNCTION refuse_unregistered();
CREATE TRIGGER tr_thumbnails_claims BEFORE UPDATE OF worker_id ON thumbnails FOR EACH ROW
    WHEN (new.worker_id IS NOT NULL AND new.worker_id IS DISTINCT FROM old.worker_id) EXECUTE FUNCTION refuse_unregistered();
CREATE TRIGGER tr_thumbnail_cleanup_jobs_claims BEFORE UPDATE OF worker_id ON thumbnail_cleanup_jobs FOR EACH ROW
    WHEN (new.worker_id IS NOT NULL AND new.worker_id IS DISTINCT FROM old.worker_id) EXECUTE FUNCTION refuse_unregistered();

-- Nor does a job that removes something begin while the keeper does not allow it.
CREATE FUNCTION refuse_removal() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM deletion_policy WHERE allow_delete = 1) AND NOT pg_has_role(
        current_user, (SELECT relowner FROM pg_class WHERE oid = tg_relid), 'MEMBER'
    ) THEN
        RAISE EXCEPTION 'JOB-1: nothing is removed while the keeper does not allow it' USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER tr_jobs_allowed BEFORE UPDATE OF status ON jobs FOR EACH ROW
    WHEN (old.status = 'pending' AND new.status = 'running' AND new.kind = 'delete' AND new.dry_run = 0
          AND new.payload NOT LIKE '{"restore"%')
    EXECUTE FUNCTION refuse_removal();
