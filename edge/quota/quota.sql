-- name: jobs
-- An organization's own orders by the state of their jobs, counted as the limits of its plan count them.
SELECT count(*) FILTER (WHERE j.state = 'running') AS running, count(*) FILTER (WHERE j.state = 'queued') AS queued
FROM job_orders o JOIN jobs j ON j.id = o.job_id
WHERE o.organization_id = $1 AND o.cancelled_at IS NULL AND j.state IN ('queued', 'running');
