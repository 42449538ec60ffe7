-- name: export_snapshot
-- Other connections read the very same rows by this name, as long as this transaction stays open.
SELECT pg_export_snapshot();

-- name: changes
-- The release $2 of changes, or the newest one, if the changes lead back to the release $3 and that is still kept.
SELECT r.data_version FROM releases r
WHERE r.dataset = $1 AND r.data_version = coalesce($2::bigint, (SELECT max(n.data_version) FROM releases n WHERE n.dataset = $1))
  AND (r.profile->>'since')::bigint <= $3::bigint
  AND EXISTS (SELECT FROM releases f WHERE f.dataset = $1 AND f.data_version = $3::bigint);

-- name: lock_job
-- Only the worker that holds the job's lease may plan; the lock keeps it so until the plan is written.
SELECT 1 FROM jobs WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE;

-- name: plan
-- A part that is done or being written stays so; any other one is queued, and reads the new snapshot.
INSERT INTO jobs (id, kind, queue, organization_id, parent_id, parameters, fingerprint, data_version, attempts_max, traceparent)
SELECT p.id, 'export-part', j.queue, j.organization_id, j.id, jsonb_build_object('request', j.parameters, 'part', p.part),
       p.id::text, $2, $3, j.traceparent
FROM jobs j, unnest($4::uuid[], $5::jsonb[]) AS p (id, part) WHERE j.id = $1
ON CONFLICT (id) DO UPDATE SET parameters = excluded.parameters, state = 'queued', relayed_at = NULL, error = NULL,
    finished_at = NULL, not_before = statement_timestamp(),
    attempts_max = CASE jobs.state WHEN 'queued' THEN jobs.attempts_max ELSE jobs.attempt + excluded.attempts_max END
WHERE jobs.state NOT IN ('running', 'succeeded');

-- name: drop_parts
-- Of a plan that is not kept: no part of an old version may be listed beside one of the new version. Each of the two
-- conditions of the state is that of an index of jobs.
UPDATE jobs SET state = CASE state WHEN 'succeeded' THEN 'expired' ELSE 'cancelled' END, lease_until = NULL,
    finished_at = statement_timestamp()
WHERE kind = 'export-part' AND parent_id = $1 AND (state IN ('queued', 'running') OR state = 'succeeded')
  AND id <> ALL($2::uuid[]);

-- name: next_part
-- Those for which no other worker has a message come first.
SELECT id::text FROM jobs WHERE id = ANY($1::uuid[]) AND state = 'queued' AND not_before <= statement_timestamp()
ORDER BY relayed_at NULLS FIRST, (parameters->'part'->>'number')::integer LIMIT 1;

-- name: progress
-- How many parts are done, how many rows are written, how many bytes the parts that are done have, and why a part failed.
SELECT count(*) FILTER (WHERE state = 'succeeded'), coalesce(sum(coalesce((result->>'rows')::bigint, rows_done)), 0)::bigint,
       coalesce(sum((result->>'bytes')::bigint), 0)::bigint,
       (SELECT coalesce(error, '{"slug": "job-cancelled", "detail": "A part of the export was cancelled."}') FROM jobs
        WHERE id = ANY($1::uuid[]) AND state IN ('failed', 'cancelled') LIMIT 1)
FROM jobs WHERE id = ANY($1::uuid[]);

-- name: files
-- The files of the manifest, in order.
SELECT result FROM jobs WHERE id = ANY($1::uuid[]) AND state = 'succeeded' ORDER BY (parameters->'part'->>'number')::integer;

-- name: lock_stored
-- Exports of one organization are published one after the other: two at once would both find room for one.
SELECT pg_advisory_xact_lock(hashtextextended($1, 7166008));

-- name: stored_limit
-- How many bytes of exports an organization may have stored: by its plan, or else $2.
SELECT coalesce(p.stored_export_bytes_max, $2) FROM organizations o JOIN plans p ON p.name = o.plan WHERE o.id = $1::uuid;
