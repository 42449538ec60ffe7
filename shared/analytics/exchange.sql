-- name: known
-- Whether rates were loaded under a name: asked before a report is paid for.
SELECT 1 FROM rates_in_force r WHERE r.rates = $1 LIMIT 1;

-- name: table
-- A table's source and the rates between these currencies on days of a range; no row for an unknown name. One
-- statement, and so one snapshot, with its data_version. All is text: no driver loses a digit of it, and asyncpg asks each
-- new connection about arrays of anything else.
SELECT s.title, s.url, (SELECT coalesce(max(version), 0) FROM data_versions) AS version,
       coalesce(r.currencies, '{}') AS currencies, coalesce(r.days, '{}') AS days, coalesce(r.per_euro, '{}') AS per_euro
FROM sources s, LATERAL (
    SELECT array_agg(f.currency::text) AS currencies, array_agg(f.day::text) AS days, array_agg(f.per_euro::text) AS per_euro
    FROM rates_in_force f WHERE f.rates = $1 AND f.currency = ANY ($2::text[]) AND f.day BETWEEN $3::date AND $4::date) r
WHERE s.name = $1 AND EXISTS (SELECT FROM rates_in_force f WHERE f.rates = $1);
