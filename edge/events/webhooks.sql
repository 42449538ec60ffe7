-- name: lock
-- Additions of one organization happen one after the other, or two that counted at once would pass its limit together.
SELECT pg_advisory_xact_lock(hashtextextended($1, 7166007));

-- name: count
-- Against the limit of an organization.
SELECT count(*) AS total FROM webhook_endpoints WHERE organization_id = $1::uuid AND person_id IS NULL;

-- name: add
-- It begins with the next event; earlier events can be replayed.
WITH added AS (
    INSERT INTO webhook_endpoints (id, organization_id, url, types, sealed_secret, position)
    SELECT $2::uuid, $1::uuid, $3, $4::text[], $5,
           greatest((SELECT max(number) FROM event_log WHERE organization_id = $1::uuid),
                    (SELECT max(number) FROM event_log WHERE organization_id IS NULL), (SELECT up_to FROM event_log_deleted))
    RETURNING id, organization_id)
SELECT audit_notices(a.organization_id, $6, 'webhook.created', a.id::text) AS audited FROM added a;

-- name: listed
-- All of an organization, which are few; $2: only this one. `pending`: not accepted yet, counted up to a thousand.
SELECT w.id::text, w.url, w.types, w.created_at, w.failures, w.due_at, w.disabled_at, w.disabled_reason,
       CASE WHEN w.secret_before_ends > statement_timestamp() THEN w.secret_before_ends END AS secret_before_ends,
       w.position::text,
       (SELECT count(*) FROM (SELECT FROM event_log l
            WHERE (l.organization_id = w.organization_id OR l.organization_id IS NULL) AND l.number > w.position
              AND (w.types IS NULL OR l.type = ANY (w.types)) LIMIT 1000) p) AS pending
FROM webhook_endpoints w
WHERE w.organization_id = $1::uuid AND w.person_id IS NULL AND ($2::uuid IS NULL OR w.id = $2::uuid) ORDER BY w.id;

-- name: delete
-- Its attempts go with it.
WITH gone AS (DELETE FROM webhook_endpoints WHERE organization_id = $1::uuid AND id = $2::uuid AND person_id IS NULL RETURNING organization_id, id)
SELECT audit_notices(g.organization_id, $3, 'webhook.deleted', g.id::text) AS audited FROM gone g;

-- name: rotate
-- The secret before signs as well for $4 seconds; the one before that ends at once.
WITH changed AS (
    UPDATE webhook_endpoints SET sealed_secret_before = sealed_secret, sealed_secret = $3,
        secret_before_ends = statement_timestamp() + make_interval(secs => $4)
    WHERE organization_id = $1::uuid AND id = $2::uuid AND person_id IS NULL RETURNING organization_id, id)
SELECT audit_notices(c.organization_id, $5, 'webhook.secret-rotated', c.id::text) AS audited FROM changed c;

-- name: enable
-- From where it was disabled; events that the log no longer keeps are skipped.
WITH changed AS (
    UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, failures = 0, due_at = statement_timestamp()
    WHERE organization_id = $1::uuid AND id = $2::uuid AND person_id IS NULL RETURNING organization_id, id)
SELECT audit_notices(c.organization_id, $3, 'webhook.enabled', c.id::text) AS audited FROM changed c;

-- name: disable
-- With its notice, by the table's trigger. The position stays: nothing is lost when it is enabled within the log's time.
WITH changed AS (
    UPDATE webhook_endpoints SET disabled_at = coalesce(disabled_at, statement_timestamp()),
        disabled_reason = CASE WHEN disabled_at IS NULL THEN $3 ELSE disabled_reason END
    WHERE organization_id = $1::uuid AND id = $2::uuid AND person_id IS NULL RETURNING organization_id, id)
SELECT audit_notices(c.organization_id, $4, 'webhook.disabled', c.id::text) AS audited FROM changed c;

-- name: attempts
-- Newest first.
SELECT a.event_id::text, a.number::text AS cursor, a.at, a.status, a.outcome, a.answer, a.milliseconds
FROM webhook_attempts a WHERE a.endpoint_id = $1::uuid ORDER BY a.id DESC LIMIT $2;

-- name: replay
-- By id, or those after $3 up to $4; at most $6. Of the endpoint's organization, and of its types.
WITH chosen AS (
    SELECT l.number FROM event_log l, webhook_endpoints w
    WHERE w.id = $2::uuid AND w.organization_id = $1::uuid AND w.person_id IS NULL AND (l.organization_id = $1::uuid OR l.organization_id IS NULL)
      AND (l.id = $5::uuid OR ($5::uuid IS NULL AND l.number > $3 AND l.number <= $4))
      AND (w.types IS NULL OR l.type = ANY (w.types)) ORDER BY l.number LIMIT $6),
added AS (
    INSERT INTO webhook_replays (endpoint_id, number) SELECT $2::uuid, number FROM chosen
    ON CONFLICT DO NOTHING RETURNING number)
SELECT (SELECT count(*) FROM chosen) AS events, audit_notices($1::uuid, $7, 'webhook.replayed', $2::text) AS audited,
       (SELECT count(*) FROM added) AS added;
