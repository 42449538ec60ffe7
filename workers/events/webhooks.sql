-- name: claim
-- Endpoints that have something to send and that no worker holds, those without failures first: a bad one never keeps a good one
-- waiting. Those of an organization that is suspended, or whose plan has no webhooks any more, wait. $1: seconds of the lease,
-- $2: how many, $3: the lowest rank of plans with webhooks, $4: mails of members rather than webhooks.
UPDATE webhook_endpoints e SET lease_no = lease_no + 1, lease_until = statement_timestamp() + make_interval(secs => $1)
FROM (SELECT w.id, o.name AS organization, h.email FROM webhook_endpoints w
      JOIN organizations o ON o.id = w.organization_id AND o.state = 'active' JOIN plans p ON p.name = o.plan AND p.rank >= $3
      LEFT JOIN people h ON h.id = w.person_id
      WHERE (w.person_id IS NOT NULL) = $4::boolean AND w.disabled_at IS NULL AND w.due_at <= statement_timestamp()
        AND (w.lease_until IS NULL OR w.lease_until < statement_timestamp())
        AND webhook_has_event(w)
      ORDER BY w.failures, w.due_at LIMIT $2 FOR UPDATE OF w SKIP LOCKED) due
WHERE e.id = due.id RETURNING e.id::text, e.lease_no, e.organization_id::text, e.url,
    e.person_id::text, due.email, due.organization, e.digest;

-- name: next_events
-- Events to be replayed come first; then those after the position: $3 at most. The secrets are read with it, so that a
-- rotation holds from the next event on. No row: the lease is another's, or there is nothing left. Of a digest, all up to the
-- last event before its end: also one that a clock which was set back dates later, as its number would be passed over.
SELECT l.number, l.id::text, l.type, l.at, l.data, w.sealed_secret,
       CASE WHEN w.secret_before_ends > statement_timestamp() THEN w.sealed_secret_before END, w.failures, l.replayed
FROM webhook_endpoints w CROSS JOIN LATERAL (
    SELECT max(e.number) AS number FROM event_log e
    WHERE w.digest IS NOT NULL AND e.number > w.position AND e.at < digest_end(w.digest)
      AND (e.organization_id = w.organization_id OR e.organization_id IS NULL)) ended
CROSS JOIN LATERAL (
    (SELECT g.number, g.id, g.type, g.at, g.data, true AS replayed FROM webhook_replays r JOIN event_log g ON g.number = r.number
     WHERE r.endpoint_id = w.id AND (g.organization_id = w.organization_id OR g.organization_id IS NULL)
     ORDER BY r.number LIMIT $3)
    UNION ALL
    (SELECT g.number, g.id, g.type, g.at, g.data, false FROM event_log g
     WHERE g.organization_id = w.organization_id AND g.number > w.position AND (w.types IS NULL OR g.type = ANY (w.types))
       AND (w.digest IS NULL OR g.number <= ended.number)
     ORDER BY g.number LIMIT $3)
    UNION ALL
    (SELECT g.number, g.id, g.type, g.at, g.data, false FROM event_log g
     WHERE g.organization_id IS NULL AND g.number > w.position AND (w.types IS NULL OR g.type = ANY (w.types))
       AND (w.digest IS NULL OR g.number <= ended.number)
     ORDER BY g.number LIMIT $3)) l
WHERE w.id = $1::uuid AND w.lease_no = $2 AND w.disabled_at IS NULL
ORDER BY l.replayed DESC, l.number LIMIT $3;

-- name: note_attempt
-- In the transaction of what it came to.
INSERT INTO webhook_attempts (endpoint_id, event_id, number, status, outcome, answer, milliseconds)
SELECT w.id, $3::uuid, $4, $5, $6, $7, $8 FROM webhook_endpoints w WHERE w.id = $1::uuid AND w.lease_no = $2;

-- name: accepted
-- Fenced by the lease: a worker that lost the endpoint moves nothing. A replay leaves the position where it is.
UPDATE webhook_endpoints SET failures = 0, position = CASE WHEN $4::boolean THEN position ELSE greatest(position, $3) END,
    lease_until = statement_timestamp() + make_interval(secs => $5)
WHERE id = $1::uuid AND lease_no = $2 RETURNING id;

-- name: replayed
-- It was sent again.
DELETE FROM webhook_replays WHERE endpoint_id = $1::uuid AND number = $2;

-- name: failed
-- The same event is sent again after some $3 seconds; nothing behind it is sent before. The random part spreads endpoints
-- of one receiver that failed together. $4: how many failures are counted.
UPDATE webhook_endpoints SET failures = greatest(failures, least(failures + 1, $4)), lease_until = NULL,
    due_at = statement_timestamp() + make_interval(secs => $3 * (1 + 0.1 * random()))
WHERE id = $1::uuid AND lease_no = $2;

-- name: disable
-- With its notice, by the table's trigger. The position stays: nothing is lost when it is enabled within the log's time.
UPDATE webhook_endpoints SET disabled_at = statement_timestamp(), disabled_reason = $3, failures = failures + 1, lease_until = NULL
WHERE id = $1::uuid AND lease_no = $2;

-- name: release
-- Nothing is left to send: the next event need not wait for the lease's end.
UPDATE webhook_endpoints SET lease_until = NULL WHERE id = $1::uuid AND lease_no = $2;

-- name: item_names
-- For the words of a mail.
SELECT iid, name FROM items WHERE iid = ANY ($1);

-- name: keep_mail
-- Of a service without a mail server: operators read it on the page of the outbox.
INSERT INTO outbox_mails (recipient, subject, body) VALUES ($1, $2, $3);
