-- name: claim
-- Mails that are due and that no worker holds, those without failures first. $1: seconds of the lease, $2: how many.
UPDATE mail_queue q SET lease_no = lease_no + 1, lease_until = statement_timestamp() + make_interval(secs => $1)
FROM (SELECT m.id, o.name AS organization, coalesce(p.email, i.email) AS address,
             m.data || CASE WHEN i.id IS NULL THEN '{}' ELSE jsonb_build_object('role', i.role, 'invited_by', i.invited_by) END AS data
      FROM mail_queue m JOIN organizations o ON o.id = m.organization_id AND o.state = 'active'
      LEFT JOIN people p ON p.id = m.person_id LEFT JOIN invitations i ON i.id = m.invitation_id
      WHERE m.ended_at IS NULL AND m.due_at <= statement_timestamp()
        AND (m.lease_until IS NULL OR m.lease_until < statement_timestamp()) AND mail_has_recipient(m)
      ORDER BY m.failures, m.due_at LIMIT $2 FOR UPDATE OF m SKIP LOCKED) due
WHERE q.id = due.id
RETURNING q.id::text, q.lease_no, q.failures, q.kind, due.address, q.organization_id::text, due.organization, q.person_id::text,
    due.data, q.sealed_secret;

-- name: end
-- It was sent, or refused for good for the reason $3. Fenced by the lease.
UPDATE mail_queue SET ended_at = statement_timestamp(), refusal = $3, sealed_secret = NULL, lease_until = NULL
WHERE id = $1::uuid AND lease_no = $2;

-- name: failed
-- Sent again after some $3 seconds; $4: how many failures are counted.
UPDATE mail_queue SET failures = greatest(failures, least(failures + 1, $4)), lease_until = NULL,
    due_at = statement_timestamp() + make_interval(secs => $3 * (1 + 0.1 * random()))
WHERE id = $1::uuid AND lease_no = $2;

-- name: wait
-- A server that takes no mail is not asked by each that waits: what is due and in no worker's hands waits as long.
UPDATE mail_queue SET due_at = statement_timestamp() + make_interval(secs => $1)
WHERE ended_at IS NULL AND due_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until < statement_timestamp());
