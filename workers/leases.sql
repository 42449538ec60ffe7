-- name: claim
-- One statement decides who has the job: the doorbell may ring twice, the row changes hands once.
UPDATE jobs SET state = 'running', attempt = attempt + 1, lease_until = statement_timestamp() + make_interval(secs => $2),
    started_at = statement_timestamp(), progress_stage = 'started', rows_done = 0, rows_total = NULL
WHERE id = $1 AND state = 'queued'
RETURNING id::text, kind, parameters, data_version, attempt, format, organization_id::text, traceparent;

-- name: beat
-- Fenced by the attempt: a worker whose job went to another one gets no row and must stop.
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
-- The same for a result that lies in the store: the row names the snapshot that was really read, so that whoever looks
-- for an answer by its data_version never finds another one's.
UPDATE jobs SET state = 'succeeded', result = $3, progress_fraction = 1, progress_stage = 'done', lease_until = NULL,
    finished_at = statement_timestamp(), expires_at = statement_timestamp() + make_interval(hours => $4),
    data_version = $5, fingerprint = $6, rows_done = $7, rows_total = $7
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING id;

-- name: fail
-- Back to the queue while attempts are left and another one may help, else failed for good with its reason. Each
-- attempt waits longer, up to a minute, and not all of them the same time, so that what failed together does not come back
-- together. A job that was put off often has a high attempt: without the bound its pause would be out of range.
UPDATE jobs SET error = $3, lease_until = NULL, relayed_at = NULL,
    not_before = statement_timestamp() + make_interval(secs => 0.5 * 2 ^ least(attempt, 6) * (0.5 + random())),
    state = CASE WHEN attempt < attempts_max AND NOT $4 THEN 'queued' ELSE 'failed' END,
    finished_at = CASE WHEN attempt < attempts_max AND NOT $4 THEN NULL ELSE statement_timestamp() END
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING state;

-- name: postpone
-- Where results are kept is away or full, which is not the job's fault: this attempt does not count. For an hour; what
-- waits longer fails like anything else. Not all come back at the same moment.
UPDATE jobs SET state = 'queued', error = $3, lease_until = NULL, relayed_at = NULL, attempts_max = attempts_max + 1,
    not_before = statement_timestamp() + make_interval(secs => 2 + 4 * random())
WHERE id = $1 AND attempt = $2 AND state = 'running' AND created_at > statement_timestamp() - interval '1 hour'
RETURNING state;
