-- name: lock
-- Uploads of one organization happen one after the other: two at once would get the same version, or pass its limit together.
SELECT pg_advisory_xact_lock(hashtextextended($1, 7166370));

-- name: count
-- Against the limit of an organization: versions of all tables that are not deleted.
SELECT count(*) AS total FROM weight_tables WHERE organization_id = $1::uuid AND deleted_at IS NULL;

-- name: add
-- The next version, with its entry in the audit log, in one statement; numbers of deleted versions are not used again.
WITH added AS (
    INSERT INTO weight_tables (organization_id, name, version, price_reference, sha256, table_rows, row_count)
    SELECT $1::uuid, $2, coalesce(max(version), 0) + 1, $3::date, $4, $5, $6::integer
    FROM weight_tables WHERE organization_id = $1::uuid AND name = $2
    RETURNING organization_id, name, version)
SELECT a.version, audit_notices(a.organization_id, $7, 'weights.uploaded', a.name || '@' || a.version) AS audited FROM added a;

-- name: meanings
-- What leaves of a table mean: categories by their codes, and items by the keys of their IIDs. A merged item is its survivor,
-- a withdrawn one nothing.
SELECT c.code, c.code AS meaning FROM categories c WHERE c.code = ANY($1::text[])
UNION ALL
SELECT i.iid, o.iid FROM items i LEFT JOIN inactive_items x ON x.item_id = i.id
JOIN items o ON o.id = CASE WHEN x.item_id IS NULL THEN i.id ELSE x.owner_id END
WHERE i.id = ANY($2::bigint[]);

-- name: listed
-- An organization's versions, the newest of each name first.
SELECT name, version, price_reference, sha256, row_count, created_at FROM weight_tables
WHERE organization_id = $1::uuid AND deleted_at IS NULL ORDER BY name, version DESC;

-- name: newest
-- A version of a table, or its newest one, with its rows.
SELECT id::text, name, version, price_reference, sha256, row_count, created_at, table_rows FROM weight_tables
WHERE organization_id = $1::uuid AND name = $2 AND deleted_at IS NULL AND ($3::integer IS NULL OR version = $3::integer)
ORDER BY version DESC LIMIT 1;

-- name: delete
-- All versions of a name; only their numbers and digests stay.
WITH gone AS (
    UPDATE weight_tables SET deleted_at = statement_timestamp(), table_rows = NULL
    WHERE organization_id = $1::uuid AND name = $2 AND deleted_at IS NULL RETURNING organization_id, name)
SELECT audit_notices(g.organization_id, $3, 'weights.deleted', g.name) AS audited FROM (SELECT DISTINCT * FROM gone) g;
