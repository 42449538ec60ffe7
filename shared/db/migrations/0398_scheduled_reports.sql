-- phase: expand
-- Kept reports that are asked again each week or month, by an edge in the name of the member who scheduled them. What is
-- due, what was ordered and what was mailed is state of the row, so that nothing is asked or mailed twice after a restart.

ALTER TABLE saved_reports
    ADD COLUMN schedule text,
    ADD COLUMN scheduled_by uuid,
    ADD COLUMN next_run_at timestamptz,
    ADD COLUMN lease_until timestamptz,
    ADD COLUMN scheduled_order uuid;
COMMENT ON COLUMN saved_reports.schedule IS 'week or month; null: it is not asked again by itself';
COMMENT ON COLUMN saved_reports.scheduled_by IS 'the member who scheduled it; null where they have left: then it is paused';
COMMENT ON COLUMN saved_reports.scheduled_order IS 'the order of a scheduled run whose end was not mailed yet';
ALTER TABLE saved_reports ADD CONSTRAINT saved_reports_schedule CHECK (schedule IN ('week', 'month')) NOT VALID;
ALTER TABLE saved_reports VALIDATE CONSTRAINT saved_reports_schedule;
ALTER TABLE saved_reports ADD CONSTRAINT saved_reports_scheduled_by FOREIGN KEY (organization_id, scheduled_by)
    REFERENCES members (organization_id, person_id) ON DELETE SET NULL (scheduled_by) NOT VALID;
ALTER TABLE saved_reports VALIDATE CONSTRAINT saved_reports_scheduled_by;
GRANT UPDATE (schedule, scheduled_by, next_run_at) ON saved_reports TO itemindex_edge;

-- The first moment of the next week or month of UTC.
CREATE FUNCTION next_scheduled(schedule text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT (date_trunc(schedule, statement_timestamp() AT TIME ZONE 'UTC') + ('1 ' || schedule)::interval) AT TIME ZONE 'UTC'
$$;

CREATE FUNCTION require_schedules() RETURNS void LANGUAGE plpgsql SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF context_task() IS DISTINCT FROM 'report-schedules' AND NOT is_operator() THEN
        RAISE insufficient_privilege USING MESSAGE = 'scheduled reports are run by their task';
    END IF;
END $$;

-- One that is due, for as many seconds; what an edge does not end by then, another one claims.
CREATE FUNCTION claim_scheduled_report(p_seconds integer)
RETURNS TABLE (id text, organization_id text, person_id text, question text, run text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    PERFORM require_schedules();
    RETURN QUERY
    UPDATE saved_reports s SET lease_until = statement_timestamp() + make_interval(secs => p_seconds)
    WHERE s.id = (
        SELECT d.id FROM saved_reports d
        WHERE d.next_run_at <= statement_timestamp() AND d.scheduled_by IS NOT NULL
          AND (d.lease_until IS NULL OR d.lease_until < statement_timestamp())
        ORDER BY d.next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING s.id::text, s.organization_id::text, s.scheduled_by::text, s.question,
        extract(epoch FROM s.next_run_at)::bigint::text;
END $$;

-- A run was ordered, or (without an order) was not, for a reason that is mailed.
CREATE FUNCTION end_scheduled_run(p_report uuid, p_order uuid, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    PERFORM require_schedules();
    UPDATE saved_reports SET next_run_at = next_scheduled(schedule), lease_until = NULL, scheduled_order = p_order,
        last_order = coalesce(p_order, last_order),
        last_run_at = CASE WHEN p_order IS NULL THEN last_run_at ELSE statement_timestamp() END
    WHERE id = p_report AND schedule IS NOT NULL;
    IF FOUND AND p_reason IS NOT NULL THEN
        INSERT INTO mail_queue (organization_id, kind, person_id, data)
        SELECT s.organization_id, 'report', s.scheduled_by, jsonb_build_object('name', s.name, 'reason', p_reason)
        FROM saved_reports s WHERE s.id = p_report AND s.scheduled_by IS NOT NULL;
    END IF;
END $$;

CREATE FUNCTION mail_scheduled_runs() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    PERFORM require_schedules();
    WITH ended AS (
        SELECT s.id, s.organization_id, s.scheduled_by, s.name, o.id AS job,
               CASE WHEN o.cancelled_at IS NULL THEN j.state ELSE 'cancelled' END AS state
        FROM saved_reports s JOIN job_orders o ON o.id = s.scheduled_order JOIN jobs j ON j.id = o.job_id
        WHERE o.cancelled_at IS NOT NULL OR j.state NOT IN ('queued', 'running') FOR UPDATE OF s SKIP LOCKED),
    noted AS (UPDATE saved_reports s SET scheduled_order = NULL FROM ended WHERE s.id = ended.id RETURNING s.id)
    INSERT INTO mail_queue (organization_id, kind, person_id, data)
    SELECT e.organization_id, 'report', e.scheduled_by, jsonb_build_object('name', e.name, 'job', e.job, 'state', e.state)
    FROM ended e JOIN noted USING (id) WHERE e.scheduled_by IS NOT NULL AND e.state <> 'cancelled';
END $$;

REVOKE ALL ON FUNCTION claim_scheduled_report(integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION end_scheduled_run(uuid, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION mail_scheduled_runs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_scheduled_report(integer) TO itemindex_edge;
GRANT EXECUTE ON FUNCTION end_scheduled_run(uuid, uuid, text) TO itemindex_edge;
GRANT EXECUTE ON FUNCTION mail_scheduled_runs() TO itemindex_edge;
