-- phase: expand
-- Alerts of a day or of a week in one mail. What is sent follows from the events and the position alone, so that neither a
-- restart nor an outage of the mail server sends an event twice or loses one.

ALTER TABLE webhook_endpoints ADD COLUMN digest text;
COMMENT ON COLUMN webhook_endpoints.digest IS 'of a member''s mails: day or week, whose events are sent together once it is over; null: at once';
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_digest
    CHECK (digest IS NULL OR (digest IN ('day', 'week') AND person_id IS NOT NULL)) NOT VALID;
ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_digest;
GRANT UPDATE (digest) ON webhook_endpoints TO itemindex_edge;

-- The moment before which events are sent: the last midnight of UTC, or that before the last Monday.
CREATE FUNCTION digest_end(digest text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN digest IS NULL THEN 'infinity' ELSE date_trunc(digest, statement_timestamp(), 'UTC') END
$$;

CREATE OR REPLACE FUNCTION webhook_has_event(endpoint webhook_endpoints) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (endpoint.person_id IS NULL OR EXISTS (SELECT FROM people p WHERE p.id = endpoint.person_id AND p.email_verified))
       AND (EXISTS (SELECT FROM webhook_replays r WHERE r.endpoint_id = endpoint.id)
            OR EXISTS (SELECT FROM event_log l WHERE l.organization_id = endpoint.organization_id AND l.number > endpoint.position
                       AND (endpoint.types IS NULL OR l.type = ANY (endpoint.types)) AND l.at < digest_end(endpoint.digest))
            OR EXISTS (SELECT FROM event_log l WHERE l.organization_id IS NULL AND l.number > endpoint.position
                       AND (endpoint.types IS NULL OR l.type = ANY (endpoint.types)) AND l.at < digest_end(endpoint.digest)))
$$;
