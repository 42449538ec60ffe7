-- name: request
-- It begins with the next event. One that was ended by refusals continues where it stopped, as a webhook does.
WITH requested AS (
    INSERT INTO webhook_endpoints (organization_id, person_id, types, digest, position)
    SELECT $1::uuid, $2::uuid, $3::text[], $5,
           greatest((SELECT max(number) FROM event_log WHERE organization_id = $1::uuid),
                    (SELECT max(number) FROM event_log WHERE organization_id IS NULL), (SELECT up_to FROM event_log_deleted))
    ON CONFLICT (organization_id, person_id) WHERE person_id IS NOT NULL
    DO UPDATE SET digest = excluded.digest, disabled_at = NULL, disabled_reason = NULL, failures = 0, due_at = statement_timestamp()
    RETURNING organization_id, id)
SELECT audit_notices(r.organization_id, $4, 'watch.mail-requested', r.id::text) AS audited FROM requested r;

-- name: end
-- Twice is the same: the second time there is no row.
WITH gone AS (
    DELETE FROM webhook_endpoints WHERE organization_id = $1::uuid AND person_id = $2::uuid RETURNING organization_id, id)
SELECT audit_notices(g.organization_id, $3, 'watch.mail-ended', g.id::text) AS audited FROM gone g;

-- name: state
-- Of a member who asked for mails.
SELECT w.digest, w.failures, w.due_at, w.disabled_at, w.disabled_reason,
       (SELECT max(a.at) FROM webhook_attempts a WHERE a.endpoint_id = w.id AND a.outcome = 'accepted') AS mailed_at
FROM webhook_endpoints w WHERE w.organization_id = $1::uuid AND w.person_id = $2::uuid;

-- name: choices
-- What the member has chosen.
SELECT kind, wanted FROM mail_choices WHERE organization_id = $1::uuid AND person_id = $2::uuid;

-- name: choose
-- The link of an old mail may be of a person who has left since.
INSERT INTO mail_choices (organization_id, person_id, kind, wanted)
SELECT m.organization_id, m.person_id, c.kind, c.wanted
FROM members m, unnest($3::text[], $4::boolean[]) AS c (kind, wanted)
WHERE m.organization_id = $1::uuid AND m.person_id = $2::uuid
ON CONFLICT (organization_id, person_id, kind) DO UPDATE SET wanted = excluded.wanted RETURNING kind;

-- name: outbox
-- The newest mails of a service without a mail server.
SELECT at, recipient, subject, body FROM outbox_mails ORDER BY id DESC LIMIT $1;
