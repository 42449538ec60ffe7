-- phase: expand
-- Answers that a request of an organization's key receives again for a day, as `idempotent_requests` has those of people.

CREATE TABLE idempotent_organization_requests (
    organization_id uuid NOT NULL REFERENCES organizations,
    key_sha256 bytea NOT NULL CHECK (length(key_sha256) = 32),
    request_sha256 bytea NOT NULL CHECK (length(request_sha256) = 32),
    status smallint NOT NULL CHECK (status BETWEEN 200 AND 299),
    sealed_body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (organization_id, key_sha256)
);
CREATE INDEX idempotent_organization_requests_created ON idempotent_organization_requests (created_at);

ALTER TABLE idempotent_organization_requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_idempotent_organization_requests ON idempotent_organization_requests TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) OR created_at <= statement_timestamp() - interval '24 hours')
    WITH CHECK (organization_id = (SELECT context_organization()));

GRANT SELECT, INSERT, UPDATE, DELETE ON idempotent_organization_requests TO itemindex_edge;
