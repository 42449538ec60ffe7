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

-- name: keep_plan
-- After the first planner died: parts that are done of the same version stay done, the others read the new snapshot. A
-- release is split differently from a snapshot: if the source has changed, everything is planned anew.
UPDATE export_parts SET snapshot = $3
WHERE job_id = $1 AND data_version = $2 AND (snapshot = 'release') = ($3 = 'release') RETURNING number;

-- name: drop_plan
-- A load has committed since: no part of the old version may be listed beside one of the new version.
DELETE FROM export_parts WHERE job_id = $1;

-- name: plan
-- Numbered in the order of their ranges.
INSERT INTO export_parts (job_id, number, content, data_version, snapshot, id_from, id_to)
SELECT $1::uuid, n, c, $2::bigint, $3::text, f, t
FROM unnest($4::text[], $5::bigint[], $6::bigint[]) WITH ORDINALITY AS p (c, f, t, n);

-- name: claim
-- The next part that is queued, or whose lease has expired; its slot is a number that no claim has had before.
UPDATE export_parts p SET state = 'running', attempt = p.attempt + 1, slot = nextval('export_slots'), rows_done = 0,
    lease_until = statement_timestamp() + make_interval(secs => $2)
FROM jobs j
WHERE j.id = $1 AND j.state = 'running' AND p.job_id = j.id AND p.number = (
    SELECT number FROM export_parts
    WHERE job_id = $1 AND attempt < $3 AND not_before <= statement_timestamp()
      AND (state = 'queued' OR (state = 'running' AND lease_until < statement_timestamp()))
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING j.parameters, p.number, p.content, p.data_version, p.snapshot, p.id_from, p.id_to, p.attempt, p.slot;

-- name: renew
-- Fenced by the slot; a cancelled or failed export ends its parts. A job back in the queue has only lost its planner.
UPDATE export_parts SET lease_until = statement_timestamp() + make_interval(secs => $4), rows_done = $5
WHERE job_id = $1 AND number = $2 AND slot = $3 AND state = 'running'
  AND EXISTS (SELECT FROM jobs WHERE id = $1 AND state IN ('queued', 'running'))
RETURNING number;

-- name: finish
-- The file is complete and durable; a part that another worker has claimed since has another slot and finds no row.
UPDATE export_parts SET state = 'done', lease_until = NULL, rows_done = $4, file = $5
WHERE job_id = $1 AND number = $2 AND slot = $3 AND state = 'running' RETURNING number;

-- name: fail
-- Requeued after a pause while attempts are left, else the export fails for this reason.
UPDATE export_parts SET error = $5, lease_until = NULL, rows_done = 0,
    not_before = statement_timestamp() + make_interval(secs => 0.2 * 2 ^ least(attempt, 6) * (0.5 + random())),
    state = CASE WHEN attempt < $4 THEN 'queued' ELSE 'failed' END
WHERE job_id = $1 AND number = $2 AND slot = $3 AND state = 'running' RETURNING state;

-- name: release
-- Not an attempt: the snapshot, PostgreSQL or the store of files was gone, and nothing could be tried.
UPDATE export_parts SET state = 'queued', lease_until = NULL, attempt = attempt - 1
WHERE job_id = $1 AND number = $2 AND slot = $3 AND state = 'running' RETURNING number;

-- name: fail_exhausted
-- A part that has lost as many workers as it may.
UPDATE export_parts SET state = 'failed', error = jsonb_build_object(
    'slug', 'job-lost', 'detail', format('A part of the export lost its worker %s times.', attempt))
WHERE job_id = $1 AND state = 'running' AND lease_until < statement_timestamp() AND attempt >= $2 RETURNING number;

-- name: progress
-- How far the parts are, and why the first that failed did.
SELECT count(*), count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'running'),
       count(*) FILTER (WHERE state = 'queued'), coalesce(sum(rows_done), 0)::bigint,
       (SELECT error FROM export_parts f WHERE f.job_id = $1 AND f.state = 'failed' ORDER BY f.number LIMIT 1)
FROM export_parts WHERE job_id = $1;

-- name: files
-- The files of the manifest, in order.
SELECT file FROM export_parts WHERE job_id = $1 AND state = 'done' ORDER BY number;

-- name: other_export_waits
-- A helper leaves if another export has no worker yet.
SELECT EXISTS (SELECT FROM jobs WHERE queue = 'exports' AND state = 'queued' AND id <> $1);

-- name: publish
-- The one write that shows the export: fenced by the attempt, and only when every part of one version is done.
UPDATE jobs SET state = 'succeeded', result = $3, progress_fraction = 1, progress_stage = 'done', lease_until = NULL,
    finished_at = statement_timestamp(), expires_at = statement_timestamp() + make_interval(hours => $4),
    data_version = $5::bigint, rows_done = $6::bigint, rows_total = $6::bigint
WHERE id = $1 AND attempt = $2 AND state = 'running'
  AND NOT EXISTS (SELECT FROM export_parts WHERE job_id = $1 AND (state <> 'done' OR data_version <> $5::bigint))
RETURNING id;
