-- phase: expand
-- A table is matched by a job for each of its batches, which the call waits for: nobody needs an event of each.

CREATE OR REPLACE FUNCTION log_job_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF NEW.kind = 'match-table' THEN
        RETURN NULL;
    END IF;
    INSERT INTO event_log (organization_id, type, data)
    SELECT o.organization_id, t.type, jsonb_build_object('job', o.id, 'kind', NEW.kind, 'state', NEW.state)
    FROM job_orders o, unnest(ARRAY['job.ended', CASE WHEN NEW.kind = 'export' AND NEW.state = 'succeeded' THEN 'export.ready' END]) AS t (type)
    WHERE o.job_id = NEW.id AND t.type IS NOT NULL AND o.cancelled_at IS NULL;
    RETURN NULL;
END $$;
