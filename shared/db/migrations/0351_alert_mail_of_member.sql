-- phase: expand
-- A member has mails once in an organization. Built while events are sent.

CREATE UNIQUE INDEX CONCURRENTLY webhook_endpoints_person ON webhook_endpoints (organization_id, person_id)
    WHERE person_id IS NOT NULL;
