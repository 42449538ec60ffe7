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

-- name: delete_old_mails
-- Of the outbox, as long as the events that they tell of.
DELETE FROM outbox_mails WHERE at < statement_timestamp() - make_interval(days => $1);

-- name: delete_old_queued_mails
-- Sent or not, as long as alerts wait.
DELETE FROM mail_queue WHERE created_at < statement_timestamp() - make_interval(days => $1);

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

-- name: delete_old_operator_acts
-- $1: days since they ended; what waits stays. The audit logs and the numbered events say what they changed for longer.
DELETE FROM operator_acts WHERE ended_at < statement_timestamp() - make_interval(days => $1);

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
