-- name: expire
-- A result is kept for its time; afterwards the row says so, and no response refers to deleted bytes.
UPDATE jobs SET state = 'expired' WHERE state = 'succeeded' AND expires_at < statement_timestamp() RETURNING id::text;

-- name: delete_old_jobs
-- Rows of ended jobs are kept for $1 days; those with a result that is still kept stay.
DELETE FROM jobs WHERE finished_at < statement_timestamp() - make_interval(days => $1)
  AND (state IN ('failed', 'cancelled', 'expired') OR (state = 'succeeded' AND expires_at IS NULL));

-- name: named_attempts
-- Attempts whose bytes may be read or are being written: the published one, and the one that holds the lease; of an export
-- each part's own, also while it waits for a worker again.
SELECT id::text, attempt::bigint FROM jobs
WHERE id = ANY($1::uuid[]) AND state IN ('succeeded', 'running')
UNION ALL
SELECT p.job_id::text, p.slot FROM export_parts p JOIN jobs j ON j.id = p.job_id
WHERE p.job_id = ANY($1::uuid[]) AND p.slot IS NOT NULL AND p.state IN ('running', 'done')
  AND j.state IN ('succeeded', 'running', 'queued');

-- name: delete_old_events
-- Always the oldest numbers, and the last of them is remembered: a reader whose cursor is below it has missed something.
WITH gone AS (
    DELETE FROM event_log WHERE number <= (
        SELECT max(number) FROM event_log WHERE at < statement_timestamp() - make_interval(days => $1))
    RETURNING number)
UPDATE event_log_deleted SET up_to = greatest(up_to, (SELECT max(number) FROM gone)) WHERE EXISTS (SELECT FROM gone);

-- name: delete_old_attempts
-- As long as the events that they are of.
DELETE FROM webhook_attempts WHERE at < statement_timestamp() - make_interval(days => $1);
