-- phase: expand
-- The dispatcher asks every half minute which results are missing: almost always none.
CREATE INDEX CONCURRENTLY jobs_missing ON jobs (missing_since) WHERE missing_since IS NOT NULL AND state = 'succeeded';
