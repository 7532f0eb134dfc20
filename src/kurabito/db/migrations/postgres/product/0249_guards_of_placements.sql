-- Files on their way, guarded as the other leased tables are.
CREATE TRIGGER tr_inspections_claims BEFORE UPDATE OF worker_id ON inspections FOR EACH ROW
    WHEN (new.worker_id IS NOT NULL AND new.worker_id IS DISTINCT FROM old.worker_id) EXECUTE FUNCTION refuse_unregistered();
CREATE TRIGGER tr_placements_claims BEFORE UPDATE OF worker_id ON placements FOR EACH ROW
    WHEN (new.worker_id IS NOT NULL AND new.worker_id IS DISTINCT FROM old.worker_id) EXECUTE FUNCTION refuse_unregistered();
