-- name: try_lock
-- Requests with one key at the same moment: the first runs, the others are answered that it is under way.
SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7166005)) AS got;

-- name: lock
-- A form that is sent twice waits for its first sending, because a person cannot repeat it as a program would.
SELECT true AS got FROM pg_advisory_xact_lock(hashtextextended($1, 7166005));

-- name: known
-- The answer to the first request with this key, and which request that was.
SELECT request_sha256 = $3 AS same, status, sealed_body FROM idempotent_requests
WHERE person_id = $1::uuid AND key_sha256 = $2 AND created_at > statement_timestamp() - interval '24 hours';

-- name: remember
-- In the transaction of the act itself, so that there is never one without the other. The dispatcher deletes it after a day.
INSERT INTO idempotent_requests (person_id, key_sha256, request_sha256, status, sealed_body)
VALUES ($1::uuid, $2::bytea, $3, $4, $5)
ON CONFLICT (person_id, key_sha256) DO UPDATE
SET request_sha256 = excluded.request_sha256, status = excluded.status, sealed_body = excluded.sealed_body,
    created_at = excluded.created_at;

-- name: known_of_organization
-- As `known`, where any key of the organization may repeat the request.
SELECT request_sha256 = $3 AS same, status, sealed_body FROM idempotent_organization_requests
WHERE organization_id = $1::uuid AND key_sha256 = $2 AND created_at > statement_timestamp() - interval '24 hours';

-- name: remember_of_organization
-- As `remember`.
INSERT INTO idempotent_organization_requests (organization_id, key_sha256, request_sha256, status, sealed_body)
VALUES ($1::uuid, $2::bytea, $3, $4, $5)
ON CONFLICT (organization_id, key_sha256) DO UPDATE
SET request_sha256 = excluded.request_sha256, status = excluded.status, sealed_body = excluded.sealed_body,
    created_at = excluded.created_at;
