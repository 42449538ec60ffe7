-- name: look
-- PostgreSQL's clock, whether it accepts changes (a standby or a demoted primary does not), and each queue in which a job is due for $1 seconds and none is being worked on: one row without a
-- queue where there is no such. Jobs that wait for their organization's turn wait behind running ones.
SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
       current_setting('transaction_read_only')::boolean AS read_only, late.queue, late.seconds
FROM (SELECT) one LEFT JOIN (
    SELECT q.queue, extract(epoch FROM statement_timestamp() - min(q.not_before))::bigint AS seconds FROM jobs q
    WHERE q.state = 'queued' AND q.parent_id IS NULL AND NOT EXISTS (SELECT FROM jobs r WHERE r.queue = q.queue AND r.state = 'running')
    GROUP BY q.queue HAVING min(q.not_before) < statement_timestamp() - make_interval(secs => $1)) late ON true
ORDER BY late.queue;
