-- phase: expand
-- An export without rows costs nothing either, as a report does. One that has no rows but names items that are gone has
-- something to say.

CREATE OR REPLACE FUNCTION tell_job() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM pg_notify('jobs_queued', NEW.id::text);
        RETURN NULL;
    END IF;
    IF NEW.changes IS DISTINCT FROM OLD.changes THEN
        PERFORM pg_notify('jobs_changed', NEW.id::text);
    END IF;
    IF NEW.state IS DISTINCT FROM OLD.state THEN
        IF NEW.state = 'queued' OR OLD.state IN ('queued', 'running') THEN
            PERFORM pg_notify('jobs_queued', NEW.id::text);
        END IF;
        IF NEW.state = 'cancelled' THEN
            PERFORM pg_notify('jobs_cancelled', NEW.id::text);
        END IF;
        IF NEW.state IN ('failed', 'cancelled')
           OR (NEW.state = 'succeeded' AND NEW.rows_total = 0 AND (NEW.queue = 'reports' OR (
               NEW.kind = 'export' AND NOT jsonb_path_exists(NEW.result, '$.files[*] ? (@.rows > 0)')))) THEN
            UPDATE job_orders SET refund_due = true
            WHERE job_id = NEW.id AND units > 0 AND refunded_at IS NULL AND NOT refund_due;
        END IF;
    END IF;
    RETURN NULL;
END $$;
