-- phase: expand
-- The stored exports of an organization, whose bytes are added up before another one is ordered, and where one is published.
CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_stored_exports ON jobs (organization_id) INCLUDE (expires_at, stored_bytes)
WHERE kind = 'export' AND state = 'succeeded';
