-- name: target_exists
-- The target of a watch must exist; a merged article is watched as part of its survivor.
SELECT CASE $1::text
    WHEN 'article' THEN (SELECT i.status <> 'withdrawn' FROM items i WHERE i.iid = $2 COLLATE "C")
    WHEN 'brand' THEN EXISTS (SELECT FROM brands b WHERE b.slug = $2)
    ELSE EXISTS (SELECT FROM categories c WHERE c.code = $2) END AS found;

-- name: lock
-- Additions of one organization happen one after the other, or two that counted at once would pass its limit together.
SELECT pg_advisory_xact_lock(hashtextextended($1, 7166006));

-- name: count
-- Against the limit of an organization.
SELECT count(*) AS total FROM watches WHERE organization_id = $1::uuid;

-- name: add
-- With its entry in the audit log, in one statement.
WITH added AS (
    INSERT INTO watches (organization_id, label, target, code, condition, kind, currency, amount_minor, days, percent)
    VALUES ($1::uuid, $2, $3, $4, $5, $6::text::"char", $7, $8, $9, $10::float8) RETURNING id, organization_id)
SELECT a.id::text, audit_notices(a.organization_id, $11, 'watch.created', a.id::text) AS audited FROM added a;

-- name: page
-- An organization's own, the newest first; $2: the id of the last one of the page before; $4: one alone.
SELECT id::text, label, target, code, condition, kind::text, currency, amount_minor, days, percent::float8, created_at, paused_at
FROM watches WHERE organization_id = $1::uuid AND ($2::uuid IS NULL OR id < $2::uuid) AND ($4::uuid IS NULL OR id = $4::uuid)
ORDER BY id DESC LIMIT $3;

-- name: pause
-- $3: paused from now on, or evaluated again. Earlier reports are remembered.
WITH changed AS (
    UPDATE watches SET paused_at = CASE WHEN $3::boolean THEN coalesce(paused_at, statement_timestamp()) END
    WHERE organization_id = $1::uuid AND id = $2::uuid RETURNING organization_id, id)
SELECT audit_notices(c.organization_id, $4, CASE WHEN $3 THEN 'watch.paused' ELSE 'watch.resumed' END, c.id::text) AS audited
FROM changed c;

-- name: delete
-- Its events stay in the log for their time.
WITH gone AS (DELETE FROM watches WHERE organization_id = $1::uuid AND id = $2::uuid RETURNING organization_id, id)
SELECT audit_notices(g.organization_id, $3, 'watch.deleted', g.id::text) AS audited FROM gone g;
