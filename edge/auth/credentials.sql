-- name: public_token
-- By id, never by secret: the secret is compared in the process, in constant time.
SELECT secret_hash, 'free' AS plan FROM public_tokens WHERE token_id = $1 AND revoked_at IS NULL;

-- name: api_key
-- One row tells all that a request needs; a key in its grace still counts until it ends.
SELECT k.secret_hash, o.id::text AS organization_id, o.name AS organization_name, o.plan
FROM api_keys k JOIN organizations o ON o.id = k.organization_id
WHERE k.key_id = $1 AND k.revoked_at IS NULL AND o.state = 'active'
  AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp());

-- name: plans
-- The whole table: it has a handful of rows and every edge keeps it in memory.
SELECT name, title, rank, counted_by, daily_units, burst_units, jobs_running, jobs_queued, batch_iids_max, self_service
FROM plans ORDER BY rank;
