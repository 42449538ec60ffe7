-- name: claim
-- One statement decides who has the job: the doorbell may ring twice, the row changes hands once.
UPDATE jobs SET state = 'running', attempt = attempt + 1, lease_until = statement_timestamp() + make_interval(secs => $2),
    started_at = statement_timestamp(), progress_stage = 'started'
WHERE id = $1 AND state = 'queued'
RETURNING id::text, kind, parameters, data_version, attempt;

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

-- name: fail
-- Back to the queue while attempts are left, else failed for good with its reason.
UPDATE jobs SET error = $3, lease_until = NULL, relayed_at = NULL,
    state = CASE WHEN attempt < attempts_max THEN 'queued' ELSE 'failed' END,
    finished_at = CASE WHEN attempt < attempts_max THEN NULL ELSE statement_timestamp() END
WHERE id = $1 AND attempt = $2 AND state = 'running'
RETURNING state;
