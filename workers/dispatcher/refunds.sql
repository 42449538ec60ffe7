-- name: refunds_due
-- A hundred at a time; a refund is marked afterwards, and the store books a repeated one only once. Not those of $1, which
-- could not be made: a hundred of them would keep all others from their turn.
SELECT id::text, account, charge_id, charged_day, units FROM job_orders WHERE refund_due AND id <> ALL($1::uuid[])
ORDER BY id LIMIT 100;

-- name: refunded
-- The debt of the order $1 is settled. If the store has really given the units back ($2), the statistics of the day on
-- which they were charged say so in a row of their own under the endpoint that had ordered: in one statement, so that it
-- is once.
WITH settled AS (
    UPDATE job_orders o SET refund_due = false, refunded_at = statement_timestamp() FROM jobs j
    WHERE o.id = $1::uuid AND o.refund_due AND j.id = o.job_id
    RETURNING o.account, o.charged_day, o.units,
              -- An edge of an older release does not say where an order came from.
              coalesce(o.endpoint, CASE j.kind WHEN 'sustainability-rollup' THEN 'rollup' WHEN 'export' THEN 'export-order'
                                   ELSE j.kind END) AS endpoint)
INSERT INTO usage (account, day, credential, endpoint, outcome, calls, units)
SELECT account, date '1970-01-01' + charged_day::integer, 'refund', endpoint, 'refunded', 0, -units FROM settled WHERE $2
ON CONFLICT (account, day, credential, endpoint, outcome) DO UPDATE SET units = usage.units + excluded.units;
