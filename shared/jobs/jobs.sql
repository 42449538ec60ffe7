-- name: join
-- Equal jobs that are under way are one job: the second caller gets the first one's id. The update changes nothing;
-- it only makes RETURNING name the row that was there.
INSERT INTO jobs (kind, queue, organization_id, parameters, fingerprint, data_version, attempts_max)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (kind, fingerprint) WHERE state IN ('queued', 'running') DO UPDATE SET fingerprint = excluded.fingerprint
RETURNING id::text, state;

-- name: show
-- One job, as its owner and the operator see it.
SELECT id::text, kind, queue, state, attempt, attempts_max, progress_fraction, progress_stage, rows_done, rows_total,
       data_version, result, error, created_at, started_at, finished_at
FROM jobs WHERE id = $1;

-- name: list
-- The newest first.
SELECT id::text, kind, state, attempt, progress_fraction, progress_stage, data_version, created_at, finished_at
FROM jobs WHERE ($1::text IS NULL OR state = $1) ORDER BY created_at DESC LIMIT $2;

-- name: cancel
-- A job that has ended stays as it ended; the worker of a running one finds its lease gone and writes nothing more.
UPDATE jobs SET state = 'cancelled', finished_at = statement_timestamp(), lease_until = NULL
WHERE id = $1 AND state IN ('queued', 'running') RETURNING id::text;

-- name: retry
-- Anew from the first attempt, but only where no equal job is under way.
UPDATE jobs j SET state = 'queued', attempt = 0, relayed_at = NULL, error = NULL, finished_at = NULL, progress_fraction = 0
WHERE id = $1 AND state IN ('failed', 'cancelled')
  AND NOT EXISTS (SELECT FROM jobs o WHERE o.kind = j.kind AND o.fingerprint = j.fingerprint AND o.state IN ('queued', 'running'))
RETURNING id::text;
