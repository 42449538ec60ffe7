-- name: changes
-- The kept releases of changes, and how far each leads back.
SELECT data_version, (profile->>'since')::bigint AS since FROM releases WHERE dataset = $1 ORDER BY data_version;

-- name: expire_now
-- The files of an ended export are deleted now instead of after their time; its row stays, as expired.
UPDATE jobs SET state = 'expired'
WHERE id = $1 AND kind = 'export' AND state = 'succeeded'
  AND NOT EXISTS (SELECT FROM job_orders o WHERE o.job_id = $1 AND o.organization_id <> $2 AND o.cancelled_at IS NULL)
RETURNING id::text;
