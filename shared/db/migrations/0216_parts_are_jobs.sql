-- phase: expand
-- A part of an export is a job of its own, under the export's organization and without an order: it is in no list, costs
-- nothing and counts for no limit. Its id is derived from the export and the rows of the part, so no index is needed.

ALTER TABLE jobs ADD COLUMN parent_id uuid;
COMMENT ON COLUMN jobs.parent_id IS 'the export of which the job writes a part; null: the job is no part';
GRANT INSERT (id, parent_id, traceparent) ON jobs TO itemindex_worker;

-- An export that has ended has no part under way, and without a result it has no files either.
CREATE FUNCTION end_parts() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE jobs SET state = 'cancelled', finished_at = statement_timestamp(), lease_until = NULL
    WHERE kind = 'export-part' AND parent_id = NEW.id AND state IN ('queued', 'running');
    IF NEW.state <> 'succeeded' THEN
        UPDATE jobs SET state = 'expired' WHERE kind = 'export-part' AND parent_id = NEW.id AND state = 'succeeded';
    END IF;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION end_parts() FROM PUBLIC;
CREATE TRIGGER jobs_parts_ended AFTER UPDATE OF state ON jobs FOR EACH ROW
    WHEN (NEW.kind = 'export' AND NEW.state <> OLD.state AND NEW.state NOT IN ('queued', 'running'))
    EXECUTE FUNCTION end_parts();
