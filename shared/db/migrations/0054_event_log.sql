-- phase: expand
-- One log of what happened, for the programs of organizations. A row is written in the transaction of what it tells of and
-- numbered while that commits: numbers are in the order of commits, so a reader who has seen one has seen all before it.

CREATE SEQUENCE event_log_numbers;

CREATE TABLE event_log (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    number bigint UNIQUE,
    organization_id uuid REFERENCES organizations (id),
    type text NOT NULL CHECK (type ~ '^[a-z]+\.[a-z-]+$'),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    data jsonb NOT NULL,
    once text
);
COMMENT ON COLUMN event_log.number IS 'null until the transaction commits';
COMMENT ON COLUMN event_log.organization_id IS 'null: of every organization';
COMMENT ON COLUMN event_log.once IS 'what is told once to an organization';
CREATE INDEX event_log_organization ON event_log (organization_id, number);
CREATE INDEX event_log_unnumbered ON event_log (id) WHERE number IS NULL;
CREATE UNIQUE INDEX event_log_once ON event_log (organization_id, once) WHERE once IS NOT NULL;

CREATE TABLE event_log_deleted (up_to bigint NOT NULL);
COMMENT ON COLUMN event_log_deleted.up_to IS 'events of this number and below are no longer kept';
INSERT INTO event_log_deleted VALUES (0);

-- Deferred to the commit, so that the lock is held for the commit alone, however long the transaction was. Other
-- transactions' rows without a number are never visible here.
CREATE FUNCTION number_events() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF EXISTS (SELECT FROM event_log WHERE id = NEW.id AND number IS NULL) THEN
        PERFORM pg_advisory_xact_lock(7166002);
        WITH own AS MATERIALIZED (
            SELECT o.id, nextval('event_log_numbers') AS number
            FROM (SELECT id FROM event_log WHERE number IS NULL ORDER BY id) o)
        UPDATE event_log e SET number = own.number, at = clock_timestamp() FROM own WHERE e.id = own.id;
        PERFORM pg_notify('events', '');
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER event_log_numbered AFTER INSERT ON event_log
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION number_events();

CREATE FUNCTION log_job_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data)
    SELECT o.organization_id, t.type, jsonb_build_object('job', o.id, 'kind', NEW.kind, 'state', NEW.state)
    FROM job_orders o, unnest(ARRAY['job.ended', CASE WHEN NEW.kind = 'export' AND NEW.state = 'succeeded' THEN 'export.ready' END]) AS t (type)
    WHERE o.job_id = NEW.id AND t.type IS NOT NULL
      AND (o.cancelled_at IS NULL OR (NEW.state = 'cancelled' AND o.cancelled_at >= transaction_timestamp()));
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_logged AFTER UPDATE OF state ON jobs FOR EACH ROW
    WHEN (OLD.state IN ('queued', 'running') AND NEW.state IN ('succeeded', 'failed', 'cancelled'))
    EXECUTE FUNCTION log_job_end();

CREATE FUNCTION log_release() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (type, data) VALUES ('release.cut', jsonb_build_object(
        'dataset', NEW.dataset, 'data_version', NEW.data_version, 'rows', NEW.rows, 'bytes', NEW.bytes));
    RETURN NULL;
END $$;
CREATE TRIGGER releases_logged AFTER INSERT ON releases FOR EACH ROW EXECUTE FUNCTION log_release();

CREATE FUNCTION log_item_state() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (type, data) VALUES (
        CASE NEW.status WHEN 'merged' THEN 'item.merged' WHEN 'withdrawn' THEN 'item.withdrawn' ELSE 'item.restored' END,
        jsonb_build_object('iid', NEW.iid, 'survivor_iid', NEW.survivor_iid));
    RETURN NULL;
END $$;
CREATE TRIGGER items_logged AFTER UPDATE OF status, survivor_iid ON items FOR EACH ROW
    WHEN ((OLD.status, OLD.survivor_iid) IS DISTINCT FROM (NEW.status, NEW.survivor_iid))
    EXECUTE FUNCTION log_item_state();

CREATE FUNCTION log_key_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data) VALUES (
        NEW.organization_id, CASE NEW.act WHEN 'key.rotated' THEN 'key.rotated' ELSE 'key.revoked' END,
        jsonb_build_object('key_id', split_part(NEW.subject, ',', 1)));
    RETURN NULL;
END $$;
CREATE TRIGGER audit_logged AFTER INSERT ON audit FOR EACH ROW
    WHEN (NEW.act IN ('key.rotated', 'key.revoked', 'key.reported-leaked')) EXECUTE FUNCTION log_key_change();

-- Units of a day by what the edges have counted, which includes what failed jobs gave back. Called after the counts have
-- committed: of two edges the later one sees the sum of both.
CREATE FUNCTION log_quota(p_accounts text[], p_day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF context_task() IS DISTINCT FROM 'usage' AND NOT is_operator() THEN
        RAISE insufficient_privilege USING MESSAGE = 'quotas are noted where use is counted';
    END IF;
    INSERT INTO event_log (organization_id, type, data, once)
    SELECT o.id, 'quota.reached',
           jsonb_build_object('day', p_day, 'percent', s.percent, 'used', u.units, 'limit', p.daily_units),
           'quota:' || p_day || ':' || s.percent
    FROM organizations o JOIN plans p ON p.name = o.plan,
         LATERAL (SELECT sum(units)::bigint AS units FROM usage WHERE account = 'org:' || o.id AND day = p_day) u,
         unnest(ARRAY[80, 100]) AS s (percent)
    WHERE 'org:' || o.id = ANY (p_accounts) AND u.units * 100 >= p.daily_units * s.percent
    ORDER BY o.id, s.percent
    ON CONFLICT (organization_id, once) WHERE once IS NOT NULL DO NOTHING;
END $$;

ALTER TABLE event_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_event_log ON event_log FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization())
           OR (organization_id IS NULL AND (SELECT context_organization()) IS NOT NULL));
CREATE POLICY worker_event_log ON event_log TO itemindex_worker USING (true) WITH CHECK (true);
GRANT SELECT ON event_log, event_log_deleted TO itemindex_edge;
GRANT SELECT, INSERT, DELETE ON event_log TO itemindex_worker;
GRANT SELECT, UPDATE ON event_log_deleted TO itemindex_worker;
REVOKE ALL ON FUNCTION number_events() FROM PUBLIC;
REVOKE ALL ON FUNCTION log_job_end() FROM PUBLIC;
REVOKE ALL ON FUNCTION log_release() FROM PUBLIC;
REVOKE ALL ON FUNCTION log_item_state() FROM PUBLIC;
REVOKE ALL ON FUNCTION log_key_change() FROM PUBLIC;
REVOKE ALL ON FUNCTION log_quota(text[], date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log_quota(text[], date) TO itemindex_edge;
