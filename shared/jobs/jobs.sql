-- name: join
-- Equal jobs that are under way are one job: the second caller gets the first one's id. The update changes nothing;
-- it only makes RETURNING name the row that was there.
INSERT INTO jobs (kind, queue, organization_id, parameters, fingerprint, data_version, attempts_max)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (kind, fingerprint) WHERE state IN ('queued', 'running') DO UPDATE SET fingerprint = excluded.fingerprint
RETURNING id::text, state;

-- name: show
-- One job, as the operator sees it, by its own id or by that of an organization's order of it.
SELECT id::text, kind, queue, state, attempt, attempts_max, progress_fraction AS fraction, progress_stage AS stage, rows_done,
       rows_total, data_version, result, error, created_at, started_at, finished_at
FROM jobs WHERE id = $1 OR id = (SELECT job_id FROM job_orders WHERE id = $1);

-- name: list
-- The newest first, with how many organizations wait for each.
SELECT j.id::text, j.kind, j.queue, j.state, j.attempt, j.progress_fraction AS fraction, j.progress_stage AS stage, j.data_version,
       (SELECT count(*) FROM job_orders o WHERE o.job_id = j.id AND o.cancelled_at IS NULL) AS orders,
       j.created_at, j.finished_at
FROM jobs j WHERE j.parent_id IS NULL AND ($1::text IS NULL OR j.state = $1) ORDER BY j.created_at DESC LIMIT $2;

-- name: cancel
-- A job that has ended stays as it ended; the worker of a running one finds its lease gone and writes nothing more.
UPDATE jobs SET state = 'cancelled', finished_at = statement_timestamp(), lease_until = NULL
WHERE (id = $1 OR id = (SELECT job_id FROM job_orders WHERE id = $1)) AND state IN ('queued', 'running')
RETURNING id::text;

-- name: retry
-- Anew from the first attempt, but only where no equal job is under way.
UPDATE jobs j SET state = 'queued', attempt = 0, relayed_at = NULL, error = NULL, finished_at = NULL, progress_fraction = 0,
    progress_stage = 'queued', rows_done = 0, not_before = statement_timestamp()
WHERE (id = $1 OR id = (SELECT job_id FROM job_orders WHERE id = $1)) AND state IN ('failed', 'cancelled')
  AND NOT EXISTS (SELECT FROM jobs o WHERE o.kind = j.kind AND o.fingerprint = j.fingerprint AND o.state IN ('queued', 'running'))
RETURNING id::text;

-- name: stored_exports
-- Bytes of an organization's exports that are stored, and when the first of them expires. Of one that was published before
-- its bytes had a column, the manifest has them; what is no number of bytes there counts as nothing.
SELECT coalesce(sum(coalesce(stored_bytes, CASE WHEN result ->> 'bytes' ~ '^[0-9]{1,15}$' THEN (result ->> 'bytes')::bigint END)),
                0)::bigint AS used,
       coalesce(ceil(extract(epoch FROM min(expires_at) - statement_timestamp())), 0)::int AS expires_seconds
FROM jobs WHERE organization_id = $1::uuid AND kind = 'export' AND state = 'succeeded' AND expires_at > statement_timestamp();
