-- phase: expand
-- The keys of an organization: each page of them, each rotation and each revocation asks for these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS api_keys_organization ON api_keys (organization_id);
