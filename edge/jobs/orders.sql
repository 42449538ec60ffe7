-- name: lock
-- Orders of one organization are submitted one after the other: between counting and inserting, another edge would
-- accept one more.
SELECT pg_advisory_xact_lock(hashtextextended($1, 7166002));

-- name: submit
-- Insert or join, in one statement: a result that came meanwhile, else the equal job that is under way, else a new one;
-- and on it this organization's own order, or the one that it already has. No row: its queue is full, or all queues
-- together are; a job that is under way may always be joined. An order of a report that has come without rows owes its
-- units back: they were charged before it came.
WITH there AS (
    SELECT id, queue = 'reports' AND rows_total = 0 AS is_free FROM jobs
    WHERE kind = $1 AND fingerprint = $4 AND state = 'succeeded' AND missing_since IS NULL
      AND expires_at > statement_timestamp() + interval '1 minute'
    ORDER BY finished_at DESC LIMIT 1),
own AS (
    SELECT 1 FROM job_orders o JOIN jobs j ON j.id = o.job_id
    WHERE o.organization_id = $7 AND o.cancelled_at IS NULL AND j.kind = $1 AND j.fingerprint = $4
      AND j.state IN ('queued', 'running')),
waiting AS (
    SELECT count(*) AS n FROM job_orders o JOIN jobs j ON j.id = o.job_id
    WHERE o.organization_id = $7 AND o.cancelled_at IS NULL AND j.state = 'queued'),
backlog AS (
    SELECT count(*) AS n FROM (SELECT FROM jobs WHERE state = 'queued' AND parent_id IS NULL LIMIT $15) q),
under_way AS (
    SELECT 1 FROM jobs WHERE kind = $1 AND fingerprint = $4 AND state IN ('queued', 'running')),
made AS (
    INSERT INTO jobs (kind, queue, organization_id, parameters, fingerprint, data_version, attempts_max, format, traceparent)
    SELECT $1, $2, $7, $3::jsonb, $4, $5::bigint, $6::integer, $8, $14::text
    WHERE NOT EXISTS (SELECT FROM there) AND ((SELECT n FROM waiting) < $9 OR EXISTS (SELECT FROM own))
      AND ((SELECT n FROM backlog) < $15 OR EXISTS (SELECT FROM under_way))
    ON CONFLICT (kind, fingerprint) WHERE state IN ('queued', 'running') DO UPDATE SET fingerprint = excluded.fingerprint
    RETURNING id)
INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units, refund_due, endpoint, idempotency_key,
    request_sha256)
SELECT id, $7, $10, $11, $12::bigint, $13::integer, is_free AND $13::integer > 0, $16, $17, $18::bytea
FROM (SELECT id, is_free FROM there UNION ALL SELECT id, false FROM made) job
ON CONFLICT (job_id, organization_id) WHERE cancelled_at IS NULL DO UPDATE SET account = excluded.account
RETURNING id::text, job_id::text, charge_id;

-- name: repeated
-- The order that was placed under this key, and whether by the same request.
SELECT id::text, job_id::text, request_sha256 = $3 AS same FROM job_orders WHERE organization_id = $1 AND idempotency_key = $2;

-- name: backlog_full
-- Whether as many jobs are queued, of all organizations, as may be; no more than that number is counted.
SELECT count(*) >= $1 AS "full" FROM (SELECT FROM jobs WHERE state = 'queued' AND parent_id IS NULL LIMIT $1) q;

-- name: show
-- One order with its job. A result past its time is expired, whether or not its deletion has run.
SELECT o.id::text, o.job_id::text, j.kind, j.parameters, j.format, j.data_version, j.attempt, j.progress_fraction,
       j.progress_stage, j.rows_done, j.rows_total, j.result, j.error, o.created_at, j.started_at, j.expires_at,
       coalesce(o.cancelled_at, j.finished_at) AS finished_at,
       CASE WHEN o.refund_due OR o.refunded_at IS NOT NULL THEN 0 ELSE o.units END AS cost_units,
       j.changes + (o.cancelled_at IS NOT NULL)::int AS changes,
       CASE WHEN o.cancelled_at IS NOT NULL THEN 'cancelled'
            WHEN j.state = 'succeeded' AND j.expires_at <= statement_timestamp() THEN 'expired' ELSE j.state END AS state
FROM job_orders o JOIN jobs j ON j.id = o.job_id
WHERE o.id = $1 AND o.organization_id = $2;

-- name: list
-- The newest first; ids are UUIDv7, so their order is that of creation. One row more than requested shows whether more follow.
-- $6: kinds of which there are so many that they would hide all others: they are listed only where their kind is asked for.
SELECT o.id::text, o.job_id::text, j.kind, j.parameters, j.format, j.data_version, j.attempt, j.progress_fraction,
       j.progress_stage, j.rows_done, j.rows_total, j.result, j.error, o.created_at, j.started_at, j.expires_at,
       coalesce(o.cancelled_at, j.finished_at) AS finished_at,
       CASE WHEN o.refund_due OR o.refunded_at IS NOT NULL THEN 0 ELSE o.units END AS cost_units,
       j.changes, s.state
FROM job_orders o JOIN jobs j ON j.id = o.job_id,
LATERAL (SELECT CASE WHEN o.cancelled_at IS NOT NULL THEN 'cancelled'
                     WHEN j.state = 'succeeded' AND j.expires_at <= statement_timestamp() THEN 'expired'
                     ELSE j.state END AS state) s
WHERE o.organization_id = $1 AND ($2::text IS NULL OR s.state = $2) AND (j.kind = $3 OR $3::text IS NULL AND j.kind <> ALL ($6::text[]))
  AND ($4::uuid IS NULL OR o.id < $4)
ORDER BY o.id DESC LIMIT $5;

-- name: count
-- How many there are in all of what is listed.
SELECT count(*) AS total FROM job_orders o JOIN jobs j ON j.id = o.job_id,
LATERAL (SELECT CASE WHEN o.cancelled_at IS NOT NULL THEN 'cancelled'
                     WHEN j.state = 'succeeded' AND j.expires_at <= statement_timestamp() THEN 'expired'
                     ELSE j.state END AS state) s
WHERE o.organization_id = $1 AND ($2::text IS NULL OR s.state = $2) AND (j.kind = $3 OR $3::text IS NULL AND j.kind <> ALL ($4::text[]));

-- name: lock_job
-- Locks the job's row before its other orders are looked at: a concurrent order waits, or is seen.
SELECT j.id FROM jobs j JOIN job_orders o ON o.job_id = j.id
WHERE o.id = $1 AND o.organization_id = $2 FOR UPDATE OF j;

-- name: cancel
-- Only this organization's interest, and only while the job is under way; its price is owed back.
UPDATE job_orders o SET cancelled_at = statement_timestamp(), refund_due = units > 0
FROM jobs j WHERE o.id = $1 AND o.organization_id = $2 AND o.cancelled_at IS NULL AND j.id = o.job_id
  AND j.state IN ('queued', 'running')
RETURNING o.job_id::text, pg_notify('jobs_changed', o.job_id::text), pg_notify('jobs_queued', o.job_id::text);

-- name: cancel_orphan
-- A job without orders is cancelled, which stops the worker's statement.
UPDATE jobs SET state = 'cancelled', finished_at = statement_timestamp(), lease_until = NULL
WHERE id = $1 AND state IN ('queued', 'running')
  AND NOT EXISTS (SELECT FROM job_orders o WHERE o.job_id = $1 AND o.cancelled_at IS NULL)
RETURNING id::text;

-- name: mark_missing
-- The store does not have the bytes that the row names. The dispatcher looks again before the result expires. Returns a
-- row only for the first edge that notices.
UPDATE jobs SET missing_since = statement_timestamp()
WHERE id = $1 AND state = 'succeeded' AND missing_since IS NULL RETURNING id::text;
