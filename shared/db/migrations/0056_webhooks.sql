-- phase: expand
-- Webhooks: addresses of organizations to which the log of events is sent, each in its order.

CREATE TABLE webhook_endpoints (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    url text NOT NULL CHECK (length(url) <= 2000),
    types text[],
    sealed_secret bytea NOT NULL,
    sealed_secret_before bytea,
    secret_before_ends timestamptz,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    position bigint NOT NULL,
    failures integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    lease_no bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    disabled_at timestamptz,
    disabled_reason text
);
COMMENT ON COLUMN webhook_endpoints.types IS 'null: every type';
COMMENT ON COLUMN webhook_endpoints.position IS 'number of the last event that was accepted, or is not for it';
COMMENT ON COLUMN webhook_endpoints.lease_no IS 'fences the writes of a worker that lost the endpoint to another one';
CREATE INDEX webhook_endpoints_organization ON webhook_endpoints (organization_id, id);
CREATE INDEX webhook_endpoints_due ON webhook_endpoints (due_at) WHERE disabled_at IS NULL;

CREATE TABLE webhook_replays (
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    PRIMARY KEY (endpoint_id, number)
);

CREATE TABLE webhook_attempts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id uuid NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    status smallint,
    outcome text NOT NULL,
    answer text NOT NULL DEFAULT '',
    milliseconds integer NOT NULL
);
CREATE INDEX webhook_attempts_endpoint ON webhook_attempts (endpoint_id, id DESC);
CREATE INDEX webhook_attempts_at ON webhook_attempts (at);

-- The notice of a disabled webhook: in the feed and in the audit log, in the transaction that disables it.
CREATE FUNCTION log_webhook_disabled() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data) VALUES (NEW.organization_id, 'webhook.disabled',
        jsonb_build_object('webhook', NEW.id, 'reason', NEW.disabled_reason));
    PERFORM write_audit(NEW.organization_id, NULL, 'the service', 'webhook.disabled', NEW.id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER webhook_endpoints_disabled AFTER UPDATE OF disabled_at ON webhook_endpoints FOR EACH ROW
    WHEN (OLD.disabled_at IS NULL AND NEW.disabled_at IS NOT NULL) EXECUTE FUNCTION log_webhook_disabled();
REVOKE ALL ON FUNCTION log_webhook_disabled() FROM PUBLIC;

ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_webhook_endpoints ON webhook_endpoints TO itemindex_edge
    USING (organization_id = (SELECT context_organization())) WITH CHECK (organization_id = (SELECT context_organization()));
CREATE POLICY worker_webhook_endpoints ON webhook_endpoints TO itemindex_worker USING (true) WITH CHECK (true);
ALTER TABLE webhook_replays ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_webhook_replays ON webhook_replays TO itemindex_edge
    USING (endpoint_id IN (SELECT e.id FROM webhook_endpoints e WHERE e.organization_id = (SELECT context_organization())))
    WITH CHECK (endpoint_id IN (SELECT e.id FROM webhook_endpoints e WHERE e.organization_id = (SELECT context_organization())));
CREATE POLICY worker_webhook_replays ON webhook_replays TO itemindex_worker USING (true) WITH CHECK (true);
ALTER TABLE webhook_attempts ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_webhook_attempts ON webhook_attempts FOR SELECT TO itemindex_edge
    USING (endpoint_id IN (SELECT e.id FROM webhook_endpoints e WHERE e.organization_id = (SELECT context_organization())));
CREATE POLICY worker_webhook_attempts ON webhook_attempts TO itemindex_worker USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON webhook_endpoints TO itemindex_edge;
GRANT UPDATE (sealed_secret, sealed_secret_before, secret_before_ends, disabled_at, disabled_reason, failures, due_at)
    ON webhook_endpoints TO itemindex_edge;
GRANT SELECT, INSERT ON webhook_replays TO itemindex_edge;
GRANT SELECT ON webhook_attempts TO itemindex_edge;
GRANT SELECT, UPDATE ON webhook_endpoints TO itemindex_worker;
GRANT SELECT, DELETE ON webhook_replays TO itemindex_worker;
GRANT SELECT, INSERT, DELETE ON webhook_attempts TO itemindex_worker;
