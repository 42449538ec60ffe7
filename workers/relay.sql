-- name: take
-- Rows whose doorbell has not been rung, or was rung long ago and nobody came. SKIP LOCKED lets two relays share them.
UPDATE jobs SET relayed_at = statement_timestamp()
WHERE id IN (
    SELECT id FROM jobs
    WHERE state = 'queued' AND (relayed_at IS NULL OR relayed_at < statement_timestamp() - make_interval(secs => $1))
    ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED)
RETURNING id::text, kind, queue;

-- name: untake
-- The broker did not take it: the next sweep tries again.
UPDATE jobs SET relayed_at = NULL WHERE id = ANY($1::uuid[]) AND state = 'queued';

-- name: lapse
-- A lease that ran out means a worker that died, whatever the broker remembers.
UPDATE jobs SET relayed_at = NULL, lease_until = NULL,
    state = CASE WHEN attempt < attempts_max THEN 'queued' ELSE 'failed' END,
    finished_at = CASE WHEN attempt < attempts_max THEN NULL ELSE statement_timestamp() END,
    error = CASE WHEN attempt < attempts_max THEN NULL ELSE jsonb_build_object('slug', 'job-lost') END
WHERE state = 'running' AND lease_until < statement_timestamp()
RETURNING id::text, kind, state, attempt;
