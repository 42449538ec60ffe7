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
