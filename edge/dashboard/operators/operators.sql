-- name: note_act
-- An act of the person's, which the owner's process does.
INSERT INTO operator_acts (person_id, person, act, subject, title, arguments) VALUES ($1, $2, $3, $4, $5, $6);

-- name: recent_acts
-- What a person has just ordered, and what of theirs still waits: the pages say what became of it.
SELECT act, title, state, detail, at FROM operator_acts
WHERE person_id = $1 AND (state = 'waiting' OR ended_at > statement_timestamp() - interval '90 seconds')
ORDER BY id DESC LIMIT 5;

-- name: acts
-- Every act of every operator, the newest first. $1: a text in the act, its subject or the operator's name; $2: a state.
SELECT at, person, act, title, subject, state, detail FROM operator_acts
WHERE ($1 = '' OR position(lower($1) IN lower(concat_ws(' ', act, title, subject, person))) > 0) AND ($2 = '' OR state = $2)
ORDER BY id DESC LIMIT $3 OFFSET $4;

-- name: last_examination
-- What the last examination of the service has found.
SELECT outcome, ended_at FROM operator_acts WHERE act = 'service.examine' AND state = 'done' ORDER BY id DESC LIMIT 1;

-- name: waiting_counts
-- How much waits for a decision or has failed; each number is small, or bounded by the days that it looks at.
SELECT (SELECT count(*) FROM plan_requests WHERE decision IS NULL) AS plan_requests,
       (SELECT count(*) FROM loads WHERE state = 'failed' AND started_at > statement_timestamp() - interval '7 days') AS loads_failed,
       (SELECT count(*) FROM feeds WHERE failures > 0 AND NOT paused) AS feeds_failing,
       (SELECT count(*) FROM uploads WHERE state IN ('previewed', 'refused')) AS uploads_waiting,
       (SELECT count(*) FROM jobs WHERE state = 'failed' AND finished_at > statement_timestamp() - interval '7 days'
            AND parent_id IS NULL) AS jobs_failed,
       (SELECT count(*) FROM jobs WHERE parent_id IS NULL AND job_is_stuck(jobs)) AS jobs_stuck,
       (SELECT count(*) FROM outbox_mails) AS mails_kept,
       (SELECT count(*) FROM organizations) AS organizations, (SELECT count(*) FROM people) AS people;

-- name: organizations
-- The newest first. $1: a text in the name or an id; $2: a plan; $3: `active`, `suspended` or nothing.
SELECT o.id::text, o.name, o.plan, o.state, o.created_at, (SELECT count(*) FROM members m WHERE m.organization_id = o.id) AS members,
       (SELECT r.plan FROM plan_requests r WHERE r.organization_id = o.id AND r.decision IS NULL) AS requested_plan
FROM organizations o
WHERE ($1 = '' OR position(lower($1) IN lower(o.name)) > 0 OR o.id::text = lower($1)) AND ($2 = '' OR o.plan = $2)
  AND ($3 = '' OR o.state = $3)
ORDER BY o.id DESC LIMIT $4 OFFSET $5;

-- name: organization
-- One, with the plan that it has requested.
SELECT o.id::text, o.name, o.plan, o.state, o.created_at, r.plan AS requested_plan, r.requested_at, p.name AS requested_by
FROM organizations o LEFT JOIN plan_requests r ON r.organization_id = o.id AND r.decision IS NULL
LEFT JOIN people p ON p.id = r.requested_by WHERE o.id = $1;

-- name: plan_requests
-- Those that wait, the oldest first. $1: a text in the name of the organization or of who asked.
SELECT o.id::text, o.name, o.plan, r.plan AS requested_plan, p.name AS requested_by, p.email, r.requested_at
FROM plan_requests r JOIN organizations o ON o.id = r.organization_id LEFT JOIN people p ON p.id = r.requested_by
WHERE r.decision IS NULL AND ($1 = '' OR position(lower($1) IN lower(concat_ws(' ', o.name, p.name, p.email))) > 0)
ORDER BY r.id LIMIT $2 OFFSET $3;

-- name: people
-- Who has signed in, the newest first, with their organizations. $1: a text in the name or address, or an id.
SELECT p.id::text, p.name, p.email, p.email_verified, p.created_at,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'name', o.name, 'role', m.role) ORDER BY m.joined_at), '[]')
        FROM members m JOIN organizations o ON o.id = m.organization_id WHERE m.person_id = p.id)::text AS organizations
FROM people p WHERE $1 = '' OR position(lower($1) IN lower(concat_ws(' ', p.name, p.email))) > 0 OR p.id::text = lower($1)
ORDER BY p.id DESC LIMIT $2 OFFSET $3;

-- name: people_called
-- Whom an operator means by an address or an id: an address may be of several people.
SELECT id::text, name FROM people WHERE id::text = lower($1) OR lower(email) = lower($1) LIMIT 2;

-- name: jobs
-- Without the parts of exports, the newest first. $1: a text in the kind, or an id; $2: a state, or `stuck`.
SELECT j.id::text, j.kind, j.state, j.attempt, j.attempts_max, j.progress_fraction AS fraction, j.progress_stage AS stage,
       j.error ->> 'detail' AS reason, j.created_at, j.finished_at,
       (SELECT string_agg(DISTINCT o.name, ', ') FROM job_orders d JOIN organizations o ON o.id = d.organization_id
        WHERE d.job_id = j.id AND d.cancelled_at IS NULL) AS organizations
FROM jobs j
WHERE j.parent_id IS NULL AND ($1 = '' OR position(lower($1) IN j.kind) > 0 OR j.id::text = lower($1))
  AND ($2 = '' OR j.state = $2 OR ($2 = 'stuck' AND job_is_stuck(j)))
ORDER BY j.created_at DESC, j.id DESC LIMIT $3 OFFSET $4;

-- name: loads
-- Loads, deletions, merges and withdrawals, the newest first; loads that failed have no number. The parts of a bulk decision
-- are not listed. $1: a text in the source, the kind or the actor, or a number; $2: a state.
SELECT * FROM (
    SELECT e.no, coalesce(e.kind, 'load') AS kind, coalesce(l.source, '') AS source,
           CASE WHEN e.undone_at IS NOT NULL THEN 'undone' ELSE coalesce(l.state, 'committed') END AS state, l.rows_read,
           l.rows_rejected, coalesce(e.at, l.started_at) AS at, e.actor, coalesce(e.reason, l.error) AS reason, l.id::text AS load
    FROM events e FULL JOIN loads l ON l.id = e.load_id WHERE (e.no > 0 AND e.part_of IS NULL) OR e.no IS NULL) listed
WHERE ($1 = '' OR position(lower($1) IN lower(concat_ws(' ', source, kind, actor))) > 0 OR no::text = $1) AND ($2 = '' OR state = $2)
ORDER BY at DESC, no DESC LIMIT $3 OFFSET $4;

-- name: load
-- One load with what came of it.
SELECT l.id::text AS load, e.no, l.source, CASE WHEN e.undone_at IS NOT NULL THEN 'undone' ELSE l.state END AS state, l.started_at,
       l.finished_at, l.rows_read, l.rows_rejected, l.error, e.actor
FROM loads l LEFT JOIN events e ON e.load_id = l.id AND e.no > 0 WHERE l.id = $1;

-- name: reject_reasons
-- Why rows and fields of a load were refused, the most frequent reason first, each with an example.
SELECT reason, count(*) AS rows, (array_agg(column_name ORDER BY file, line))[1] AS column_name,
       (array_agg(value ORDER BY file, line))[1] AS value, min(line) AS line
FROM rejects WHERE load_id = $1 GROUP BY reason ORDER BY count(*) DESC, reason LIMIT $2;

-- name: feeds
-- Every feed with its last reading. $1: a text in the name or the source.
SELECT name, source, every_seconds, paused, due_at, failures, error, read_at, loaded_at FROM feeds
WHERE $1 = '' OR position(lower($1) IN lower(concat_ws(' ', name, source))) > 0
ORDER BY failures = 0, name LIMIT $2 OFFSET $3;

-- name: releases
-- What is kept of each data_version, the newest first. $1: a dataset.
SELECT r.data_version, count(*) AS datasets, sum(r.rows)::bigint AS rows, sum(r.bytes)::bigint AS bytes, max(r.kept_as) AS kept_as,
       max(r.created_at) AS created_at, max(r.expires_at) AS expires_at
FROM releases r WHERE $1 = '' OR r.dataset = $1 GROUP BY r.data_version ORDER BY r.data_version DESC LIMIT $2 OFFSET $3;

-- name: release_waits
-- Whether a release is under way.
SELECT id::text, state FROM jobs WHERE kind = 'release' AND state IN ('queued', 'running') LIMIT 1;

-- name: match_models
-- The models that learned from decisions, the newest first, with what they were measured at. $1: the beginning of a digest, or a
-- text in who trained it.
SELECT digest, trained_on, (bounds ->> 'link_learned')::double precision AS link, created_at, created_by FROM match_models
WHERE $1 = '' OR starts_with(digest, lower($1)) OR position(lower($1) IN lower(created_by)) > 0
ORDER BY created_at DESC, digest LIMIT $2 OFFSET $3;

-- name: model_choices
-- The choice in force and the one before it, to which undoing leads back. A digest that is kept no more is the shipped model's.
SELECT c.no, c.at, c.actor, coalesce(m.digest, 'shipped') AS digest
FROM match_model_choices c LEFT JOIN match_models m ON m.digest = c.digest ORDER BY c.no DESC LIMIT 2;
