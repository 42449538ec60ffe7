-- name: source_of_items
-- A table of rates may not take the name of a source of items: their license and title would be replaced.
SELECT 1 FROM sources s WHERE s.name = $1 AND (
    EXISTS (SELECT FROM item_sources t WHERE t.source_id = s.id) OR EXISTS (SELECT FROM factor_claims f WHERE f.source_id = s.id));

-- name: insert
-- A rate that is in force already is kept again: undoing an earlier load must not take it away.
INSERT INTO exchange_rates (source_id, currency, day, no, per_euro)
SELECT $1, n.currency, n.day, $2, n.per_euro
FROM unnest($3::text[], $4::date[], $5::numeric[]) AS n (currency, day, per_euro);

-- name: changed
-- How many of these rates are new or differ from those in force, and whether the title, license or address does.
SELECT count(*), NOT EXISTS (
    SELECT FROM sources s WHERE s.name = $1 AND (s.title, s.license, s.url) IS NOT DISTINCT FROM ($5, $6, $7))
FROM unnest($2::text[], $3::date[], $4::numeric[]) AS n (currency, day, per_euro)
LEFT JOIN rates_in_force r ON r.rates = $1 AND r.currency = n.currency AND r.day = n.day
WHERE r.per_euro IS DISTINCT FROM n.per_euro;

-- name: tables
-- Each table with its days and currencies.
SELECT r.rates AS name, s.title, s.url, min(r.day) AS first_day, max(r.day) AS last_day,
       count(DISTINCT r.currency) AS currencies, count(*) AS rates
FROM rates_in_force r JOIN sources s ON s.name = r.rates GROUP BY r.rates, s.title, s.url ORDER BY r.rates;
