-- name: set_idle_timeout
-- A dispatcher whose host is cut off between two statements must not keep the others waiting for its lock.
SET idle_in_transaction_session_timeout = '5s';

-- name: dispatch_lock
-- One dispatcher decides at a time, on a snapshot that has seen the other's decision: limits hold with any number of them.
SELECT pg_advisory_xact_lock(7166001);

-- name: select_dispatchable
-- Organizations with fewer jobs dispatched or running go first, so one organization's backlog cannot delay another's first
-- job, and none gets more than its plan's running jobs. At most $2 messages of a queue stay unclaimed at the broker, in the
-- order in which they were sent. Internal jobs have no owner and no limit. A job that was sent $1 seconds ago and not
-- claimed is due again: the broker may have lost the message, which its queue's length tells. Messages are counted once for
-- each queue: counted for each job that waits, 10,000 jobs take 18 s. At most $3 parts of an export are with workers other
-- than the one that plans it; they wait while any other job of their queue does, and until what was sent is claimed.
WITH dispatched AS (
    SELECT o.organization_id, count(*) AS jobs FROM jobs j JOIN job_orders o ON o.job_id = j.id AND o.cancelled_at IS NULL
    WHERE j.state = 'running' OR (j.state = 'queued' AND j.relayed_at IS NOT NULL) GROUP BY 1),
waiting AS (
    SELECT j.id, j.queue, p.jobs_running AS limit_running,
           coalesce(h.jobs, 0) + row_number() OVER (PARTITION BY o.organization_id ORDER BY j.created_at, j.id) AS position
    FROM jobs j JOIN job_orders o ON o.job_id = j.id AND o.cancelled_at IS NULL
    JOIN organizations g ON g.id = o.organization_id JOIN plans p ON p.name = g.plan
    LEFT JOIN dispatched h ON h.organization_id = o.organization_id
    WHERE j.state = 'queued' AND j.relayed_at IS NULL AND j.not_before <= statement_timestamp()),
sent AS (SELECT queue, count(*) AS messages FROM jobs WHERE state = 'queued' AND relayed_at IS NOT NULL GROUP BY queue),
parts AS (
    SELECT p.id, p.state = 'queued' AND p.relayed_at IS NULL AS is_due,
           row_number() OVER (PARTITION BY p.parent_id ORDER BY p.relayed_at, p.state, p.id) AS place
    FROM jobs p JOIN jobs e ON e.id = p.parent_id AND e.state = 'running'
    WHERE p.kind = 'export-part' AND p.state IN ('queued', 'running') AND p.not_before <= statement_timestamp()
      AND NOT EXISTS (SELECT FROM jobs w WHERE w.queue = 'exports' AND w.state = 'queued'
                      AND (w.parent_id IS NULL OR w.relayed_at IS NOT NULL))),
turns AS (
    SELECT id, row_number() OVER (PARTITION BY queue ORDER BY min(position), id) + coalesce(min(sent.messages), 0) AS turn
    FROM waiting LEFT JOIN sent USING (queue) WHERE position <= limit_running GROUP BY queue, id
    UNION ALL SELECT id, 0 FROM parts WHERE is_due AND place <= $3)
UPDATE jobs SET relayed_at = statement_timestamp() FROM (
    SELECT j.id, coalesce(t.turn, 0) AS turn, j.relayed_at AS sent_at FROM jobs j LEFT JOIN turns t ON t.id = j.id
    WHERE j.state = 'queued' AND (
        t.turn <= $2
        OR j.relayed_at < statement_timestamp() - make_interval(secs => $1)
        OR (j.relayed_at IS NULL AND j.organization_id IS NULL AND j.parent_id IS NULL AND j.not_before <= statement_timestamp()))
    ORDER BY turn, j.created_at LIMIT 100 FOR UPDATE OF j SKIP LOCKED) picked
WHERE jobs.id = picked.id
RETURNING jobs.id::text, kind, queue, turn, traceparent, extract(epoch FROM sent_at)::float8;

-- name: unclaimed
-- Jobs of these queues whose message was sent and not claimed; the broker holds as many messages if it has lost none.
SELECT queue, count(*) FROM jobs WHERE state = 'queued' AND relayed_at IS NOT NULL AND queue = ANY($1::text[]) GROUP BY queue;

-- name: undo_dispatch
-- The broker did not take the message: the next sweep tries again.
UPDATE jobs SET relayed_at = NULL WHERE id = ANY($1::uuid[]) AND state = 'queued';

-- name: requeue_expired
-- An expired lease means that the worker died, whatever the broker remembers.
UPDATE jobs SET relayed_at = NULL, lease_until = NULL,
    state = CASE WHEN attempt < attempts_max THEN 'queued' ELSE 'failed' END,
    finished_at = CASE WHEN attempt < attempts_max THEN NULL ELSE statement_timestamp() END,
    error = CASE WHEN attempt < attempts_max THEN NULL ELSE jsonb_build_object(
        'slug', 'job-lost', 'detail', format('The job lost its worker %s times.', attempt)) END
WHERE state = 'running' AND lease_until < statement_timestamp()
RETURNING id::text, kind, state, attempt, traceparent;

-- name: settle_jobs
-- A clock that was ahead and has been set back leaves moments in the rows that would not come for as long as it was ahead:
-- a job that waits, a message that is not sent again, a lease of a dead worker. Nothing sets a moment further ahead than a
-- lease of $1 seconds or a pause of a minute, so what is five minutes past that is brought back. A living worker keeps
-- renewing its lease, and a dead one's expires after one more lease.
UPDATE jobs SET not_before = least(not_before, statement_timestamp()),
    relayed_at = CASE WHEN relayed_at IS NOT NULL THEN least(relayed_at, statement_timestamp()) END,
    lease_until = CASE WHEN lease_until IS NOT NULL THEN least(lease_until, statement_timestamp() + make_interval(secs => $1)) END
WHERE state IN ('queued', 'running') AND (
    not_before > statement_timestamp() + interval '5 minutes' OR relayed_at > statement_timestamp() + interval '5 minutes'
    OR lease_until > statement_timestamp() + make_interval(secs => $1) + interval '5 minutes')
RETURNING id::text;

-- name: settle_webhooks
-- The same for webhooks: after so many failures the next call is due within the pause of $1 for that many, and a lease has
-- half a minute.
UPDATE webhook_endpoints SET
    due_at = CASE WHEN due_at > statement_timestamp() + make_interval(secs => 1.1 * coalesce(($1::integer[])[failures], 0), mins => 5)
                  THEN statement_timestamp() ELSE due_at END,
    lease_until = CASE WHEN lease_until IS NOT NULL THEN least(lease_until, statement_timestamp() + interval '30 seconds') END
WHERE disabled_at IS NULL AND (
    due_at > statement_timestamp() + make_interval(secs => 1.1 * coalesce(($1::integer[])[failures], 0), mins => 5)
    OR lease_until > statement_timestamp() + interval '5 minutes')
RETURNING id::text;

-- name: settle_mails
-- The same for the queue of mails.
UPDATE mail_queue SET
    due_at = CASE WHEN due_at > statement_timestamp() + make_interval(secs => 1.1 * coalesce(($1::integer[])[failures], 0), mins => 5)
                  THEN statement_timestamp() ELSE due_at END,
    lease_until = CASE WHEN lease_until IS NOT NULL THEN least(lease_until, statement_timestamp() + interval '30 seconds') END
WHERE ended_at IS NULL AND (
    due_at > statement_timestamp() + make_interval(secs => 1.1 * coalesce(($1::integer[])[failures], 0), mins => 5)
    OR lease_until > statement_timestamp() + interval '5 minutes')
RETURNING id::text;

-- name: queue_depth
-- The values of the gauges; queues that are empty have no row. Parts of exports are not what anyone waits for.
SELECT queue, state, count(*), coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8
FROM jobs WHERE state IN ('queued', 'running') AND parent_id IS NULL GROUP BY queue, state;

-- name: webhooks_due
-- Whether a webhook has an event to send that no worker holds, or a mail is due; $1 as for `claim`
-- (workers/events/webhooks.sql).
SELECT EXISTS (
    SELECT FROM mail_queue q JOIN organizations o ON o.id = q.organization_id AND o.state = 'active'
    WHERE q.ended_at IS NULL AND q.due_at <= statement_timestamp()
      AND (q.lease_until IS NULL OR q.lease_until < statement_timestamp()) AND mail_has_recipient(q))
  OR EXISTS (
    SELECT FROM webhook_endpoints w
    JOIN organizations o ON o.id = w.organization_id AND o.state = 'active' JOIN plans p ON p.name = o.plan AND p.rank >= $1
    WHERE w.disabled_at IS NULL AND w.due_at <= statement_timestamp()
      AND (w.lease_until IS NULL OR w.lease_until < statement_timestamp())
      AND webhook_has_event(w));
