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
RETURNING jobs.id::text, kind, queue, turn, traceparent, sent_at;

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

-- name: queue_depth
-- The values of the gauges; queues that are empty have no row. Parts of exports are not what anyone waits for.
SELECT queue, state, count(*), coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8
FROM jobs WHERE state IN ('queued', 'running') AND parent_id IS NULL GROUP BY queue, state;

-- name: refunds_due
-- A hundred at a time; a refund is marked afterwards, and the store books a repeated one only once.
SELECT id::text, account, charge_id, charged_day, units FROM job_orders WHERE refund_due ORDER BY id LIMIT 100;

-- name: refunded
-- The debts $1 are settled. The statistics of the day on which those of $2 were charged, which the store has really given
-- back, say so in a row of their own under the endpoint that had ordered: in one statement, so that it is once.
WITH settled AS (
    UPDATE job_orders o SET refund_due = false, refunded_at = statement_timestamp() FROM jobs j
    WHERE o.id = ANY($1::uuid[]) AND o.refund_due AND j.id = o.job_id
    RETURNING o.id, o.account, o.charged_day, o.units,
              -- An edge of an older release does not say where an order came from.
              coalesce(o.endpoint, CASE j.kind WHEN 'sustainability-rollup' THEN 'rollup' WHEN 'export' THEN 'export-order'
                                   ELSE j.kind END) AS endpoint)
INSERT INTO usage (account, day, credential, endpoint, outcome, calls, units)
SELECT account, date '1970-01-01' + charged_day::integer, 'refund', endpoint, 'refunded', 0, -sum(units)
FROM settled WHERE id = ANY($2::uuid[]) GROUP BY account, charged_day, endpoint
ON CONFLICT (account, day, credential, endpoint, outcome) DO UPDATE SET units = usage.units + excluded.units;

-- name: webhooks_due
-- Whether a webhook has an event to send that no worker holds; $1 as for `claim` (workers/events/webhooks.sql).
SELECT EXISTS (
    SELECT FROM webhook_endpoints w
    JOIN organizations o ON o.id = w.organization_id AND o.state = 'active' JOIN plans p ON p.name = o.plan AND p.rank >= $1
    WHERE w.disabled_at IS NULL AND w.due_at <= statement_timestamp()
      AND (w.lease_until IS NULL OR w.lease_until < statement_timestamp())
      AND webhook_has_event(w));

-- name: missing
-- Results whose bytes an edge did not find in the store. A hundred at a time, those missing longest first.
SELECT id::text, kind, result FROM jobs
WHERE missing_since IS NOT NULL AND state = 'succeeded' AND expires_at > statement_timestamp()
ORDER BY missing_since LIMIT 100;

-- name: found
-- The store has all bytes again.
UPDATE jobs SET missing_since = NULL WHERE id = $1;

-- name: lost
-- Missing for $2 seconds: the result expires, and its orders are owed what they cost, in one statement, so that no crash
-- comes between. Orders that were refunded or cancelled before are not refunded again.
WITH given_up AS (
    UPDATE jobs SET state = 'expired'
    WHERE id = $1 AND state = 'succeeded' AND missing_since <= statement_timestamp() - make_interval(secs => $2)
    RETURNING id),
owed AS (
    UPDATE job_orders o SET refund_due = true FROM given_up g
    WHERE o.job_id = g.id AND o.units > 0 AND o.cancelled_at IS NULL AND o.refunded_at IS NULL AND NOT o.refund_due)
SELECT id::text FROM given_up;

-- name: expire
-- A result is kept for its time; afterwards the row says so, and no response refers to deleted bytes.
UPDATE jobs SET state = 'expired' WHERE state = 'succeeded' AND expires_at < statement_timestamp() RETURNING id::text;

-- name: delete_old_jobs
-- Rows of ended jobs are kept for $1 days; those with a result that is still kept stay.
DELETE FROM jobs WHERE finished_at < statement_timestamp() - make_interval(days => $1)
  AND (state IN ('failed', 'cancelled', 'expired') OR (state = 'succeeded' AND expires_at IS NULL));

-- name: named_attempts
-- Attempts whose bytes may be read or are being written: the published one, and the one that holds the lease. A worker of
-- the release before writes all parts of an export below the export's own id.
SELECT s.job::text, s.attempt FROM unnest($1::uuid[], $2::bigint[]) AS s (job, attempt) JOIN jobs j ON j.id = s.job
WHERE (j.attempt = s.attempt AND j.state IN ('succeeded', 'running'))
   OR (j.kind = 'export' AND j.state IN ('succeeded', 'running', 'queued'));

-- name: delete_old_events
-- Always the oldest numbers, and the last of them is remembered: a reader whose cursor is below it has missed something.
-- Replays of them go too: a webhook that has one is claimed again and again, and there is nothing to send.
WITH gone AS (
    DELETE FROM event_log WHERE number <= (
        SELECT max(number) FROM event_log WHERE at < statement_timestamp() - make_interval(days => $1))
    RETURNING number),
last AS (SELECT greatest(up_to, (SELECT max(number) FROM gone)) AS number FROM event_log_deleted),
forgotten AS (DELETE FROM webhook_replays r USING last WHERE r.number <= last.number)
UPDATE event_log_deleted SET up_to = last.number FROM last WHERE up_to < last.number;

-- name: delete_old_attempts
-- As long as the events that they are of.
DELETE FROM webhook_attempts WHERE at < statement_timestamp() - make_interval(days => $1);

-- name: delete_old_answers
-- To requests of people with an Idempotency-Key: an edge repeats one for a day.
DELETE FROM idempotent_requests WHERE created_at <= statement_timestamp() - interval '24 hours';

-- name: delete_old_answers_of_organizations
-- As `delete_old_answers`.
DELETE FROM idempotent_organization_requests WHERE created_at <= statement_timestamp() - interval '24 hours';

-- name: delete_old_invitations
-- They hold addresses of people who may never have joined. Accepted, withdrawn or expired for $1 days.
DELETE FROM invitations
WHERE least(accepted_at, revoked_at, expires_at) < statement_timestamp() - make_interval(days => $1);

-- name: delete_old_usage
-- $1: days. It grows by a row for each credential, endpoint and outcome of a day.
DELETE FROM usage WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - $1::int;

-- name: delete_old_rejects
-- $1: days. The counts by reason stay with the load.
DELETE FROM rejects r USING loads l WHERE l.id = r.load_id AND l.started_at < statement_timestamp() - make_interval(days => $1);

-- name: delete_old_loads
-- Those that no event names: they failed, or found their files loaded already. Their rejects and files go with them.
DELETE FROM loads l WHERE l.state IN ('failed', 'unchanged') AND l.started_at < statement_timestamp() - make_interval(days => $1)
  AND NOT EXISTS (SELECT FROM events e WHERE e.load_id = l.id) AND NOT EXISTS (SELECT FROM data_versions v WHERE v.load_id = l.id);

-- name: delete_old_files
-- The files of a source's newest committed load stay: by them the same files are known again.
DELETE FROM load_files f USING loads l
WHERE l.id = f.load_id AND l.state <> 'running' AND l.started_at < statement_timestamp() - make_interval(days => $1)
  AND NOT (l.state = 'committed' AND NOT EXISTS (
    SELECT FROM loads n WHERE n.source = l.source AND n.state = 'committed' AND n.finished_at > l.finished_at));

-- name: measure_loads
-- Rows of rejects, rejects beyond the bound of their load, loads, and files.
SELECT (SELECT count(*) FROM rejects),
       (SELECT coalesce(sum((summary ->> 'rejects_dropped')::bigint), 0)::bigint FROM loads),
       (SELECT count(*) FROM loads), (SELECT count(*) FROM load_files);

-- name: measure_backups
-- Whether what receives the log for backups is connected; no row where nothing was ever backed up.
SELECT active FROM pg_replication_slots WHERE slot_name = 'itemindex_backup';

-- name: measure_feeds
-- How many feeds fail, and how long the one that has waited longest is overdue.
SELECT count(*) FILTER (WHERE failures > 0), count(*) FILTER (WHERE failures = 0),
    coalesce(extract(epoch FROM max(statement_timestamp() - due_at)), 0)::float8
FROM feeds WHERE NOT paused;
