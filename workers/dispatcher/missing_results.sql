-- name: missing
-- Results whose bytes an edge did not find in the store. A hundred at a time, those missing longest first;
-- not those of $1, which could not be looked at: a hundred of them would keep all others from their turn.
SELECT id::text, kind, result FROM jobs
WHERE missing_since IS NOT NULL AND state = 'succeeded' AND expires_at > statement_timestamp()
  AND id <> ALL($1::uuid[])
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
