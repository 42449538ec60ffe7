-- name: list
-- An organization's own, the newest run first; those that were never run by when they were saved.
SELECT s.id::text, s.name, s.question, s.created_by, s.created_at, s.last_order::text, s.last_run_at, s.schedule,
       p.name AS scheduled_by, s.next_run_at
FROM saved_reports s LEFT JOIN people p ON p.id = s.scheduled_by
WHERE s.organization_id = $1::uuid ORDER BY coalesce(s.last_run_at, s.created_at) DESC, s.id DESC LIMIT $2;

-- name: find
-- One of the organization's own.
SELECT id::text, name, question FROM saved_reports WHERE organization_id = $1::uuid AND id = $2::uuid;

-- name: add
-- Within the limit of an organization: the count and the row are one statement, and two at once may pass it by one.
INSERT INTO saved_reports (organization_id, name, question, created_by)
SELECT $1::uuid, $2, $3, $4 WHERE (SELECT count(*) FROM saved_reports WHERE organization_id = $1::uuid) < $5::integer
RETURNING id::text;

-- name: note_run
-- The newest run, which the list links to.
UPDATE saved_reports SET last_order = $3::uuid, last_run_at = statement_timestamp()
WHERE organization_id = $1::uuid AND id = $2::uuid RETURNING 1;

-- name: rename
-- By any member who may call: a name is no right.
UPDATE saved_reports SET name = $3 WHERE organization_id = $1::uuid AND id = $2::uuid RETURNING 1;

-- name: delete
-- Its results stay in the list of reports for their time.
DELETE FROM saved_reports WHERE organization_id = $1::uuid AND id = $2::uuid RETURNING 1;

-- name: schedule
-- In the name of the member: it is paused when they leave. It first runs at the beginning of the next week or month.
UPDATE saved_reports SET schedule = $3::text, scheduled_by = CASE WHEN $3::text IS NOT NULL THEN $4::uuid END,
    next_run_at = next_scheduled($3::text)
WHERE organization_id = $1::uuid AND id = $2::uuid RETURNING 1;

-- name: claim_scheduled
-- One that is due, for $1 seconds.
SELECT id, organization_id, person_id, question, run FROM claim_scheduled_report($1);

-- name: end_scheduled
-- With its order $2, or with the reason $3 why there is none.
SELECT end_scheduled_run($1::uuid, $2::uuid, $3) AS ended;

-- name: mail_scheduled
-- Of those whose order has ended.
SELECT mail_scheduled_runs() AS mailed;
