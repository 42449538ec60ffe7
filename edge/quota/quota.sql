-- name: jobs
-- An organization's own orders by the state of their jobs, counted as the limits of its plan count them.
SELECT count(*) FILTER (WHERE j.state = 'running') AS running, count(*) FILTER (WHERE j.state = 'queued') AS queued
FROM job_orders o JOIN jobs j ON j.id = o.job_id
WHERE o.organization_id = $1 AND o.cancelled_at IS NULL AND j.state IN ('queued', 'running');

-- name: stored_exports
-- Bytes of an organization's exports that are stored, and when the first of them expires. Of one that was published before
-- its bytes had a column, the manifest has them; what is no number of bytes there counts as nothing.
SELECT coalesce(sum(coalesce(stored_bytes, CASE WHEN result ->> 'bytes' ~ '^[0-9]{1,15}$' THEN (result ->> 'bytes')::bigint END)),
                0)::bigint AS used,
       coalesce(ceil(extract(epoch FROM min(expires_at) - statement_timestamp())), 0)::int AS expires_seconds
FROM jobs WHERE organization_id = $1::uuid AND kind = 'export' AND state = 'succeeded' AND expires_at > statement_timestamp();
