-- name: join_person
-- The provider's name and address are taken at each sign-in, and written only where they differ.
SELECT id, name, email, email_verified FROM join_person($1, $2, $3, $4, $5);

-- name: person
-- By what identifies a person: issuer and subject, never the address, which may change hands.
SELECT id::text, name, email, email_verified FROM people WHERE issuer = $1 AND subject = $2;

-- name: person_by_id
-- For a session, which keeps nothing but the id.
SELECT id::text, name, email, email_verified FROM people WHERE id = $1::uuid;

-- name: memberships
-- The organizations of a person, the first joined first.
SELECT o.id::text, o.name, o.plan, o.state, m.role FROM members m JOIN organizations o ON o.id = m.organization_id
WHERE m.person_id = $1::uuid ORDER BY m.joined_at, o.id;

-- name: create_organization
-- By a person: on the free plan, with a request for another one. $5 is how many a person may have, $6 whether plans of
-- self-service are given at once. The function locks the person's row, so that two at once do not both count one less.
SELECT organization_id, granted_plan, request_id, refusal FROM create_organization($1, $2, $3::uuid, $4, $5, $6);

-- name: create_organization_as_operator
-- By an operator, on any plan that counts organizations or on the free one.
WITH made AS (
    INSERT INTO organizations (name, plan)
    SELECT $1, p.name FROM plans p WHERE p.name = $2 AND (p.counted_by = 'organization' OR p.name = 'free')
    RETURNING id, plan),
audited AS (INSERT INTO audit (organization_id, actor, act, subject)
         SELECT id, $3, 'organization.created', plan FROM made)
SELECT id::text FROM made;

-- name: request_plan
-- By an owner; $5 as for create_organization.
SELECT granted_plan, request_id, refusal FROM request_plan($1::uuid, $2, $3::uuid, $4, $5);

-- name: plan_request
-- The request of an organization that waits for its decision: one at most.
SELECT id::text, plan, requested_at FROM plan_requests WHERE organization_id = $1::uuid AND decision IS NULL;

-- name: plan_requests
-- Requests that operators have to decide, the oldest first.
SELECT r.organization_id::text AS id, o.name, o.plan, r.plan AS requested_plan, p.name AS requested_by, p.email,
       r.requested_at, r.notified_at
FROM plan_requests r JOIN organizations o ON o.id = r.organization_id LEFT JOIN people p ON p.id = r.requested_by
WHERE r.decision IS NULL ORDER BY r.id;

-- name: plan_notices_due
-- Requests after $1 that the billing system has not taken yet, a hundred at a time: those that it refuses keep none from
-- its turn.
SELECT r.id::text, r.organization_id::text, o.name, o.plan AS current_plan, r.plan AS requested_plan, r.requested_at
FROM plan_requests r JOIN organizations o ON o.id = r.organization_id
WHERE r.decision IS NULL AND r.notified_at IS NULL AND ($1::uuid IS NULL OR r.id > $1::uuid) ORDER BY r.id LIMIT 100;

-- name: note_plan_notice
-- The billing hook has taken the notice of a request.
UPDATE plan_requests SET notified_at = statement_timestamp() WHERE id = $1::uuid;

-- name: decide_plan
-- By an operator: the request that waits is decided; $2 is 'approved' or 'declined', $3 another plan than was asked for.
WITH decided AS (
    UPDATE plan_requests SET decision = $2, decided_at = statement_timestamp(), decided_by = $4
    WHERE organization_id = $1::uuid AND decision IS NULL RETURNING organization_id, coalesce($3, plan) AS plan),
changed AS (
    UPDATE organizations o SET plan = d.plan FROM decided d WHERE o.id = d.organization_id AND $2 = 'approved'
    RETURNING o.id),
audited AS (INSERT INTO audit (organization_id, actor, act, subject)
         SELECT organization_id, $4, CASE $2 WHEN 'approved' THEN 'plan.changed' ELSE 'plan.declined' END, plan FROM decided)
SELECT plan FROM decided;

-- name: change_plan
-- By an operator; a request that waits is decided by it. Every edge is notified by the table's trigger.
WITH done AS (UPDATE organizations SET plan = $2 WHERE id = $1::uuid AND plan <> $2 RETURNING id, plan),
decided AS (UPDATE plan_requests r SET decision = 'approved', decided_at = statement_timestamp(), decided_by = $3
            FROM done WHERE r.organization_id = done.id AND r.decision IS NULL AND r.plan = done.plan),
audited AS (INSERT INTO audit (organization_id, actor, act, subject) SELECT id, $3, 'plan.changed', plan FROM done)
SELECT id::text FROM done;

-- name: change_state
-- A suspended organization's key is refused, its people can still read why.
WITH done AS (UPDATE organizations SET state = $2 WHERE id = $1::uuid AND state <> $2 RETURNING id, state),
audited AS (INSERT INTO audit (organization_id, actor, act, subject) SELECT id, $3, 'organization.' || state, '' FROM done)
SELECT id::text FROM done;

-- name: issue_key
-- Only where no current key is: the index api_keys_current refuses a second one.
SELECT key_id FROM issue_key($1::uuid, $2, $3, $4::uuid, $5);

-- name: rotate_key
-- $4 are the seconds for which the current key keeps working; the function says when it has none of them.
SELECT key_id FROM rotate_key($1::uuid, $2, $3, $4, $5::uuid, $6);

-- name: revoke_keys
-- All that still work, also those in their grace: an owner who revokes wants no more calls.
SELECT key_id FROM revoke_keys($1::uuid, $2::uuid, $3);

-- name: revoke_leaked
-- By any holder of the key: the caller has proven that by its hash. Only this one key.
SELECT key_id FROM revoke_leaked_key($1, $2);

-- name: keys
-- Those that work, the current one first.
SELECT key_id, created_at, expires_at, last_used_at, last_used_network FROM api_keys
WHERE organization_id = $1::uuid AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
ORDER BY expires_at NULLS FIRST, key_id;

-- name: members
-- The people of an organization, by rank and name.
SELECT p.id::text, p.name, p.email, m.role, m.joined_at FROM members m JOIN people p ON p.id = m.person_id
WHERE m.organization_id = $1::uuid
ORDER BY array_position(ARRAY['owner', 'admin', 'member', 'viewer'], m.role), p.name, p.id;

-- name: add_member
-- By an operator, for a person who has signed in before; people invite each other.
WITH done AS (
    INSERT INTO members (organization_id, person_id, role) VALUES ($1::uuid, $2::uuid, $3)
    ON CONFLICT (organization_id, person_id) DO NOTHING RETURNING organization_id),
audited AS (INSERT INTO audit (organization_id, actor, act, subject)
         SELECT organization_id, $4, 'member.added', $3 || ' ' || $2 FROM done)
SELECT organization_id::text FROM done;

-- name: change_role
-- From the role that the actor saw ($4) to the new one; the last owner stays one.
SELECT person_id FROM change_role($1::uuid, $2::uuid, $3, $4, $5::uuid, $6);

-- name: remove_member
-- The last owner cannot leave: then no member could manage the organization.
SELECT person_id FROM remove_member($1::uuid, $2::uuid, $3, $4::uuid, $5);

-- name: invite
-- A new invitation to the same address replaces the open one; its link stops working. Its mail is queued with it; $5 is the
-- encrypted secret of its link, null where no mail is sent.
WITH made AS MATERIALIZED (SELECT id, expires_at FROM invite_member($1::uuid, $2, $3, $4, $6::uuid, $7)),
queued AS (
    INSERT INTO mail_queue (organization_id, kind, invitation_id, sealed_secret)
    SELECT $1::uuid, 'invitation', id::uuid, $5::bytea FROM made WHERE $5::bytea IS NOT NULL)
SELECT id, expires_at FROM made;

-- name: show_invitation
-- By the secret of its link, before anybody signs in.
SELECT organization, role, email, invited_by, expires_at FROM show_invitation($1);

-- name: invitations
-- Those that can still be accepted.
SELECT id::text, email, role, created_at, expires_at FROM invitations
WHERE organization_id = $1::uuid AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > statement_timestamp()
ORDER BY id;

-- name: invitation_mails
-- What became of the mails of invitations that can still be accepted.
SELECT q.invitation_id::text, q.ended_at, q.refusal FROM mail_queue q JOIN invitations i ON i.id = q.invitation_id
WHERE i.organization_id = $1::uuid AND i.accepted_at IS NULL AND i.revoked_at IS NULL;

-- name: withdraw_invitation
-- An invitation that was accepted cannot be withdrawn: remove the member instead.
SELECT email FROM withdraw_invitation($1::uuid, $2::uuid, $3::uuid, $4);

-- name: accept_invitation
-- Once, by a person whose provider vouches for the address it was sent to.
SELECT organization_id FROM accept_invitation($1, $2::uuid);

-- name: audit
-- The newest first; $2 is the id before which the page begins. $4, $5, $6: only this act, this actor, this UTC day.
SELECT id::text, at, actor, act, subject FROM audit
WHERE organization_id = $1::uuid AND ($2::uuid IS NULL OR id < $2::uuid)
  AND ($4::text IS NULL OR act = $4) AND ($5::text IS NULL OR actor = $5)
  AND ($6::date IS NULL OR (at >= $6::date::timestamp AT TIME ZONE 'UTC' AND at < ($6::date + 1)::timestamp AT TIME ZONE 'UTC'))
ORDER BY id DESC LIMIT $3;

-- name: audit_choices
-- The values that a filter of the log can take.
SELECT coalesce(array_agg(DISTINCT act ORDER BY act), '{}') AS acts, coalesce(array_agg(DISTINCT actor ORDER BY actor), '{}') AS actors
FROM audit WHERE organization_id = $1::uuid;

-- name: audit_count
-- How many entries there are in all.
SELECT count(*) AS total FROM audit WHERE organization_id = $1::uuid;

-- name: audit_faults
-- Where the chain of audit rows breaks, of one organization or (null) of all: rows that are not as they were written,
-- rows that are missing between others, and rows that are missing at the end.
WITH chained AS (
    SELECT a.*, lag(a.number, 1, 0) OVER w AS number_before, lag(a.hash, 1, ''::bytea) OVER w AS hash_before
    FROM audit a WHERE $1::uuid IS NULL OR a.organization_id = $1 WINDOW w AS (PARTITION BY a.organization_id ORDER BY a.number, a.id)),
ends AS (
    SELECT DISTINCT ON (organization_id) organization_id, number, hash FROM chained
    ORDER BY organization_id, number DESC NULLS LAST)
SELECT c.organization_id::text AS organization, c.number AS row, CASE WHEN c.number IS DISTINCT FROM c.number_before + 1 THEN 'rows are missing before it, or it is not of the chain'
                                         ELSE 'the row was changed' END AS fault
FROM chained c
WHERE c.number IS DISTINCT FROM c.number_before + 1
   OR c.hash IS DISTINCT FROM audit_hash(c.hash_before, c.number, c.organization_id, c.id, c.at, c.actor_id, c.actor, c.act, c.subject)
UNION ALL
SELECT coalesce(h.organization_id, e.organization_id)::text, coalesce(h.number, e.number),
       CASE WHEN h.organization_id IS NULL THEN 'its end is not kept: rows may be missing after it' ELSE 'rows are missing at the end' END
FROM (SELECT organization_id, number, hash FROM audit_heads WHERE $1::uuid IS NULL OR organization_id = $1) h FULL JOIN ends e ON e.organization_id = h.organization_id
WHERE (h.number, h.hash) IS DISTINCT FROM (coalesce(e.number, 0), coalesce(e.hash, ''::bytea))
ORDER BY 1, 2;

-- name: audit_heads
-- The last row's number and hash of each organization: kept elsewhere, they show a chain that was written anew as a whole.
SELECT organization_id::text AS organization, number AS rows, encode(hash, 'hex') AS hash FROM audit_heads
WHERE $1::uuid IS NULL OR organization_id = $1 ORDER BY organization_id;

-- name: usage
-- Day by day, as the edges counted it.
SELECT day, endpoint, outcome, credential, sum(calls)::bigint AS calls, sum(units)::bigint AS units FROM usage
WHERE account = $1 AND day BETWEEN $2 AND $3 GROUP BY day, endpoint, outcome, credential
ORDER BY day DESC, endpoint, outcome, credential;

-- name: add_usage
-- A batch of one edge. Equal rows of different edges add up. All are sent as text: for an array of anything else asyncpg
-- asks each new connection about the type, which takes PostgreSQL more than the batch.
INSERT INTO usage (account, day, credential, endpoint, outcome, calls, units)
SELECT * FROM unnest(
    $1::text[], $2::text[]::date[], $3::text[], $4::text[], $5::text[], $6::text[]::bigint[], $7::text[]::bigint[])
ON CONFLICT (account, day, credential, endpoint, outcome) DO UPDATE
SET calls = usage.calls + excluded.calls, units = usage.units + excluded.units;

-- name: log_quota
-- Once a day for each of 80 and 100 per cent, in the log of events.
SELECT log_quota($1::text[], $2) AS logged;

-- name: note_key_use
-- When and from which network a key was last used; sent as text for the reason of add_usage.
UPDATE api_keys k SET last_used_at = n.at, last_used_network = n.network
FROM unnest($1::text[], $2::text[]::timestamptz[], $3::text[]) AS n (key_id, at, network)
WHERE k.key_id = n.key_id AND (k.last_used_at IS NULL OR k.last_used_at < n.at);

-- name: token_of
-- A person's own public token; its secret was shown once.
SELECT token_id, created_at FROM public_tokens WHERE person_id = $1::uuid AND revoked_at IS NULL;

-- name: issue_token
-- A new one replaces the old one at once: people who ask again have lost it.
WITH old AS (
    UPDATE public_tokens SET revoked_at = statement_timestamp() WHERE person_id = $3::uuid AND revoked_at IS NULL RETURNING 1)
INSERT INTO public_tokens (token_id, secret_hash, person_id, label)
SELECT $1, $2, $3::uuid, $4 FROM (SELECT count(*) FROM old) o RETURNING token_id;

-- name: revoke_token
-- By its owner.
UPDATE public_tokens SET revoked_at = statement_timestamp() WHERE person_id = $1::uuid AND revoked_at IS NULL RETURNING token_id;

-- name: plans
-- The whole table: it has a handful of rows and every edge keeps it in memory. The columns are named, because a process of
-- the release before knows no other ones.
SELECT name, title, rank, counted_by, daily_units, burst_units, jobs_running, jobs_queued, batch_iids_max, self_service,
       stored_export_bytes_max, price
FROM plans ORDER BY rank;
