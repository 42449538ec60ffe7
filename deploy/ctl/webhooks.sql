-- name: listed
-- By organization; `pending`: not accepted yet, counted up to a thousand.
SELECT w.id::text, o.name AS organization, w.url, w.failures, w.due_at, w.disabled_at, w.disabled_reason, w.position AS cursor,
       (SELECT count(*) FROM (SELECT FROM event_log l
            WHERE (l.organization_id = w.organization_id OR l.organization_id IS NULL) AND l.number > w.position
              AND (w.types IS NULL OR l.type = ANY (w.types)) LIMIT 1000) p) AS pending
FROM webhook_endpoints w JOIN organizations o ON o.id = w.organization_id
WHERE w.person_id IS NULL AND ($1::uuid IS NULL OR w.organization_id = $1::uuid) ORDER BY o.name, w.id;

-- name: organization_of
-- Whose it is: an act names its organization in the audit log.
SELECT organization_id::text FROM webhook_endpoints WHERE id = $1::uuid AND person_id IS NULL;

-- name: disable
-- By an operator; the table's trigger gives notice.
UPDATE webhook_endpoints SET disabled_at = statement_timestamp(), disabled_reason = $2, lease_until = NULL, lease_no = lease_no + 1
WHERE id = $1::uuid AND person_id IS NULL AND disabled_at IS NULL RETURNING id::text;

-- name: ids
-- Of all webhooks: their secrets are sealed anew one by one, so that no delivery waits.
SELECT id::text FROM webhook_endpoints WHERE person_id IS NULL ORDER BY id;

-- name: sealed
-- The secret, and the one before while it signs. Locked: a rotation meanwhile must not be overwritten by what it replaced.
SELECT sealed_secret, CASE WHEN secret_before_ends > statement_timestamp() THEN sealed_secret_before END
FROM webhook_endpoints WHERE id = $1::uuid FOR UPDATE;

-- name: reseal
-- The same secrets under another key.
UPDATE webhook_endpoints SET sealed_secret = $2, sealed_secret_before = $3 WHERE id = $1::uuid;
