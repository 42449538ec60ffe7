-- phase: expand
-- An organization that cancels its order of a job which continues for others is given the event as well: an order's
-- cancellation is logged with the order, the end of a job for the orders that still stand.

CREATE FUNCTION log_order_cancelled() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data)
    SELECT NEW.organization_id, 'job.ended', jsonb_build_object('job', NEW.id, 'kind', j.kind, 'state', 'cancelled')
    FROM jobs j WHERE j.id = NEW.job_id;
    RETURN NULL;
END $$;
CREATE TRIGGER job_orders_logged AFTER UPDATE OF cancelled_at ON job_orders FOR EACH ROW
    WHEN (OLD.cancelled_at IS NULL AND NEW.cancelled_at IS NOT NULL) EXECUTE FUNCTION log_order_cancelled();
REVOKE ALL ON FUNCTION log_order_cancelled() FROM PUBLIC;

CREATE OR REPLACE FUNCTION log_job_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data)
    SELECT o.organization_id, t.type, jsonb_build_object('job', o.id, 'kind', NEW.kind, 'state', NEW.state)
    FROM job_orders o, unnest(ARRAY['job.ended', CASE WHEN NEW.kind = 'export' AND NEW.state = 'succeeded' THEN 'export.ready' END]) AS t (type)
    WHERE o.job_id = NEW.id AND t.type IS NOT NULL AND o.cancelled_at IS NULL;
    RETURN NULL;
END $$;
