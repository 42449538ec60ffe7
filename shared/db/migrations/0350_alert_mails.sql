-- phase: expand
-- Alerts by e-mail: a row of a member who asked for them stands beside the organization's webhooks, so that order, leases,
-- retries and attempts are the same. It has no address of its own: that of the person counts, while it is verified.

ALTER TABLE webhook_endpoints
    ADD COLUMN person_id uuid,
    ALTER COLUMN url DROP NOT NULL,
    ALTER COLUMN sealed_secret DROP NOT NULL;
COMMENT ON COLUMN webhook_endpoints.person_id IS 'the member to whom events are mailed; null: a webhook';
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_member
    FOREIGN KEY (organization_id, person_id) REFERENCES members (organization_id, person_id) ON DELETE CASCADE NOT VALID;
ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_member;
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_receiver
    CHECK ((person_id IS NULL) = (url IS NOT NULL) AND (person_id IS NULL) = (sealed_secret IS NOT NULL)) NOT VALID;
ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_receiver;

-- What a member has mailed to them is nobody else's matter.
ALTER POLICY edge_webhook_endpoints ON webhook_endpoints
    USING (organization_id = (SELECT context_organization())
           AND (person_id IS NULL OR person_id = (SELECT context_person())))
    WITH CHECK (organization_id = (SELECT context_organization())
                AND (person_id IS NULL OR person_id = (SELECT context_person())));

-- A mail waits while the person's address is not verified.
CREATE OR REPLACE FUNCTION webhook_has_event(endpoint webhook_endpoints) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (endpoint.person_id IS NULL OR EXISTS (SELECT FROM people p WHERE p.id = endpoint.person_id AND p.email_verified))
       AND (EXISTS (SELECT FROM webhook_replays r WHERE r.endpoint_id = endpoint.id)
            OR EXISTS (SELECT FROM event_log l WHERE l.organization_id = endpoint.organization_id AND l.number > endpoint.position
                       AND (endpoint.types IS NULL OR l.type = ANY (endpoint.types)))
            OR EXISTS (SELECT FROM event_log l WHERE l.organization_id IS NULL AND l.number > endpoint.position
                       AND (endpoint.types IS NULL OR l.type = ANY (endpoint.types))))
$$;

-- The end of a mail is shown to its person and is no event of the organization.
DROP TRIGGER webhook_endpoints_disabled ON webhook_endpoints;
CREATE TRIGGER webhook_endpoints_disabled AFTER UPDATE OF disabled_at ON webhook_endpoints FOR EACH ROW
    WHEN (OLD.disabled_at IS NULL AND NEW.disabled_at IS NOT NULL AND NEW.person_id IS NULL)
    EXECUTE FUNCTION log_webhook_disabled();

CREATE TABLE outbox_mails (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    recipient text NOT NULL,
    subject text NOT NULL,
    body text NOT NULL
);
COMMENT ON TABLE outbox_mails IS 'mails of a service without a mail server, which operators read';
CREATE INDEX outbox_mails_at ON outbox_mails (at);

ALTER TABLE outbox_mails ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_outbox_mails ON outbox_mails FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'outbox');
CREATE POLICY worker_outbox_mails ON outbox_mails TO itemindex_worker USING (true) WITH CHECK (true);
CREATE POLICY worker_people ON people FOR SELECT TO itemindex_worker USING (true);
GRANT SELECT ON outbox_mails TO itemindex_edge;
GRANT SELECT, INSERT, DELETE ON outbox_mails TO itemindex_worker;
GRANT SELECT (id, email, email_verified) ON people TO itemindex_worker;
