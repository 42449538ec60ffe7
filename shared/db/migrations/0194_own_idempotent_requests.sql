-- phase: contract
-- An edge deletes no answers any more, so it sees only those of the person or organization that asks.

REVOKE DELETE ON idempotent_requests, idempotent_organization_requests FROM itemindex_edge;
ALTER POLICY edge_idempotent_requests ON idempotent_requests
    USING (person_id = (SELECT context_person()));
ALTER POLICY edge_idempotent_organization_requests ON idempotent_organization_requests
    USING (organization_id = (SELECT context_organization()));
