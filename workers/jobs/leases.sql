-- name: claim
-- One statement decides which worker has the job: a message may come twice, the row is claimed once.
UPDATE jobs SET state = 'running', attempt = attempt + 1, lease_until = statement_timestamp() + make_interval(secs => $2),
    started_at = statement_timestamp(), progress_stage = 'started', rows_done = 0, rows_total = NULL
WHERE id = $1 AND state = 'queued'
RETURNING id::text, kind, parameters, data_version, attempt, format, organization_id::text, traceparent;

-- name: renew
-- Fenced by the attempt: a worker that lost the job to another one gets no row and must stop.
UPDATE jobs SET lease_until = statement_timestamp() + make_interval(secs => $3),
    progress_fraction = greatest(progress_fraction, $4), progress_stage = $5, rows_done = $6, rows_total = $7
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING id;

-- name: succeed
-- The one write that publishes a result; a stale attempt finds no row.
UPDATE jobs SET state = 'succeeded', result = $3, progress_fraction = 1, progress_stage = 'done', lease_until = NULL,
    finished_at = statement_timestamp()
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING id;

-- name: publish
-- The same for a result with bytes in the object store: the row names the snapshot that was really read, so that a
-- search for a result by its data_version never finds another version's.
UPDATE jobs SET state = 'succeeded', result = $3, progress_fraction = 1, progress_stage = 'done', lease_until = NULL,
    finished_at = statement_timestamp(), expires_at = statement_timestamp() + make_interval(hours => $4),
    data_version = $5, fingerprint = coalesce($6, fingerprint), rows_done = $7, rows_total = $7, stored_bytes = $8
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING id;

-- name: fail
-- Requeued while attempts are left and another one may help, else failed with its reason. Each attempt waits longer, up
-- to a minute, by a random factor, so that jobs that failed together are not retried together. A job that was retried
-- without being counted may have a high attempt: without the bound its pause would be out of range.
UPDATE jobs SET error = $3, lease_until = NULL, relayed_at = NULL,
    not_before = statement_timestamp() + make_interval(secs => 0.5 * 2 ^ least(attempt, 6) * (0.5 + random())),
    state = CASE WHEN attempt < attempts_max AND NOT $4 THEN 'queued' ELSE 'failed' END,
    finished_at = CASE WHEN attempt < attempts_max AND NOT $4 THEN NULL ELSE statement_timestamp() END
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING state;

-- name: retry_later
-- The object store or PostgreSQL is unavailable or full, which is not the job's fault: this attempt does not count. After
-- an hour the job fails like any other. The random pause spreads the retries.
UPDATE jobs SET state = 'queued', error = $3, lease_until = NULL, relayed_at = NULL, attempts_max = attempts_max + 1,
    not_before = statement_timestamp() + make_interval(secs => 2 + 4 * random())
WHERE id = $1 AND attempt = $2 AND state = 'running' AND created_at > statement_timestamp() - interval '1 hour'
RETURNING state;
