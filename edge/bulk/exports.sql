-- name: lock
-- Orders of one organization are submitted one after the other; the same lock as for reports, because they share a queue.
SELECT pg_advisory_xact_lock(hashtextextended($1, 7166002));

-- name: known
-- The export that was ordered under this key, and whether by the same body.
SELECT id::text, job_id::text, request_sha256 = $3 AS same FROM job_orders WHERE organization_id = $1 AND idempotency_key = $2;

-- name: changes
-- The kept releases of changes, and how far each leads back.
SELECT data_version, (profile->>'since')::bigint AS since FROM releases WHERE dataset = $1 ORDER BY data_version;

-- name: submit
-- A new export of its own, with its order; no row where the organization's queue is full, or all queues together are.
WITH waiting AS (
    SELECT count(*) AS n FROM job_orders o JOIN jobs j ON j.id = o.job_id
    WHERE o.organization_id = $5 AND o.cancelled_at IS NULL AND j.state = 'queued'),
backlog AS (
    SELECT count(*) AS n FROM (SELECT FROM jobs WHERE state = 'queued' LIMIT $17) q),
made AS (
    INSERT INTO jobs (kind, queue, organization_id, parameters, fingerprint, data_version, attempts_max, format, traceparent)
    SELECT $1, $2, $5, $3::jsonb, $4, $6::bigint, $7::integer, $8, $16::text
    WHERE (SELECT n FROM waiting) < $9 AND (SELECT n FROM backlog) < $17
    RETURNING id)
INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units, idempotency_key, request_sha256, endpoint)
SELECT id, $5, $10, $11, $12::bigint, $13::integer, $14, $15::bytea, $18 FROM made
RETURNING id::text, job_id::text;

-- name: expire_now
-- The files of an ended export are deleted now instead of after their time; its row stays, as expired.
UPDATE jobs SET state = 'expired'
WHERE id = $1 AND kind = 'export' AND state = 'succeeded'
  AND NOT EXISTS (SELECT FROM job_orders o WHERE o.job_id = $1 AND o.organization_id <> $2 AND o.cancelled_at IS NULL)
RETURNING id::text;
