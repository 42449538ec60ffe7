-- name: items
-- Rows as an export has them. $1, $2: items whose key is in this range; $3: changed since this data_version; $4, $5: of
-- these brands and categories, all if none is named. Lists are joined by a character that no name has. Rows come in
-- the order of keys: another order each time would be another digest of the same data. Sources as in the record.
SELECT i.iid, i.name, nullif(array_to_string(i.alt_names, U&'\001F'), '') AS alt_names, i.status, i.survivor_iid,
       b.name AS brand, b.slug AS brand_slug, c.code AS category, i.product_type, i.identifiers::text AS identifiers,
       i.attributes::text AS attributes, i.version, i.first_seen_on, i.updated_at AT TIME ZONE 'UTC' AS updated_at,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('source', s.name, 'id', t.source_item_id, 'license', s.license, 'observed_at',
               to_char(t.observed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
               ORDER BY s.name COLLATE "C", t.source_item_id COLLATE "C"), '[]')
        FROM item_sources t JOIN sources s ON s.id = t.source_id
        WHERE t.item_id = ANY(ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id)))::text AS sources
FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status <> 'withdrawn' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]))
ORDER BY i.id;

-- name: impacts
-- Own figures of the same items, in the order of keys.
SELECT i.iid, p.indicator, p.per_unit::float8 AS per_unit, p.basis, p.method, s.name AS source, p.as_of, p.pedigree, p.reference_year
FROM impacts p JOIN items i ON i.id = p.item_id JOIN sources s ON s.id = p.source_id
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]))
ORDER BY p.item_id, p.indicator COLLATE "C";

-- name: observations
-- As every tool would make it, with its joins: previews read it, and tests and benchmarks hold what the workers make of
-- raw rows against it. $6, $7: days; $8: channels; $9: months, all if none is named; an amount has as many digits as
-- its currency, of which $10 and $11 name those that do not have two decimals. $12: the rule by which contents are read;
-- one that is not kept yet is null here.
SELECT i.iid, o.day, h.code AS channel, CASE o.kind WHEN 's' THEN 'sale' ELSE 'listing' END AS kind, s.name AS source,
       o.currency::text AS currency, round(o.price_minor / n.unit, n.digits) AS price, o.price_minor,
       round(o.list_minor / n.unit, n.digits) AS list_price, o.list_minor, o.units,
       CASE o.outlier WHEN 'd' THEN 'unit_slip' WHEN 'c' THEN 'currency' WHEN 's' THEN 'digit_swap' WHEN 'u' THEN 'wrong_pack'
           WHEN 'o' THEN 'one_off' END AS outlier,
       round((r.whole + CASE WHEN r.beyond > 0 OR (r.beyond = 0 AND mod(r.whole, 2) = 1) THEN 1 ELSE 0 END) / 1000000, 6) AS unit_price,
       c.per AS unit_price_per
FROM observations o LEFT JOIN inactive_items x ON x.item_id = o.item_id
JOIN items i ON i.id = CASE WHEN x.item_id IS NULL THEN o.item_id ELSE x.owner_id END JOIN channels h ON h.id = o.channel_id
JOIN sources s ON s.id = o.source_id LEFT JOIN stated_contents c ON c.item_id = i.id AND c.place = 0 AND c.rule = $12,
LATERAL (SELECT coalesce(($11::int[])[array_position($10::text[], o.currency::text)], 2) AS digits) d,
LATERAL (SELECT d.digits, 10::numeric ^ d.digits AS unit) n,
LATERAL (SELECT o.price_minor::numeric * c.denominator * 10::numeric ^ (6 - d.digits) AS dividend) u,
LATERAL (SELECT div(u.dividend, c.numerator) AS whole, 2 * mod(u.dividend, c.numerator) - c.numerator AS beyond) r
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]))
  AND o.day >= $6::date AND o.day <= $7::date
  AND (cardinality($8::int[]) = 0 OR o.channel_id = ANY ($8::int[]))
  AND (cardinality($9::date[]) = 0 OR date_trunc('month', o.day)::date = ANY ($9::date[]));

-- name: brands
-- Those of active items, in the order of bytes.
SELECT slug, name, item_count, nullif(array_to_string(top_categories, U&'\001F'), '') AS top_categories,
       nullif(array_to_string(channels, U&'\001F'), '') AS channels, first_seen_on
FROM brands WHERE item_count > 0 ORDER BY slug COLLATE "C";

-- name: categories
-- Those of active items and those above them, as counted at the commit of the newest data_version: to find them from the
-- items compares each category with each other one.
SELECT t.code, t.parent, array_to_string(c.path, U&'\001F') AS path, cardinality(c.path) AS level, t.item_count
FROM category_tree t JOIN categories c ON c.id = t.category_id
ORDER BY t.code;

-- name: gone
-- The rows that a copy of version $3 must drop before it takes the others in: items that were withdrawn or merged since, or that no load
-- brings any more, and changed ones that a filter by brand or category does not hold, whether or not it ever did.
SELECT i.iid, CASE WHEN i.status = 'active' THEN 'outside' ELSE i.status END AS reason
FROM items i
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.data_version > $3::bigint
  AND NOT (i.status = 'active' AND (cardinality($4::int[]) = 0 OR coalesce(i.brand_id = ANY ($4::int[]), false))
           AND (cardinality($5::int[]) = 0 OR coalesce(i.category_id = ANY ($5::int[]), false)))
UNION ALL
SELECT r.iid, 'removed' FROM removed_items r
WHERE r.item_id >= $1::bigint AND r.item_id < $2::bigint AND r.data_version > $3::bigint
ORDER BY iid;

-- name: items_count
-- How many items a request means; counting stops at $6.
SELECT count(*) FROM (
    SELECT FROM items i
    WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status <> 'withdrawn' AND i.data_version > $3::bigint
      AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
      AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[])) LIMIT $6::bigint) found;

-- name: impacts_count
-- How many figures they have.
SELECT count(*) FROM (
    SELECT FROM impacts p JOIN items i ON i.id = p.item_id
    WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
      AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
      AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[])) LIMIT $6::bigint) found;

-- name: merged
-- Every item that is part of another's record, by what, and since which data_version. The decisions are read once for
-- all items: no index finds them by their survivor.
SELECT i.iid AS "from", i.survivor_iid AS "to", coalesce(d.reason,
           (SELECT min(l.kind) FROM links l WHERE l.decision = 'link' AND i.id IN (l.left_id, l.right_id)), 'source') AS reason,
       x.data_version
FROM items i JOIN inactive_items x ON x.item_id = i.id
LEFT JOIN (SELECT one.id, max(CASE e.kind WHEN 'merge' THEN 'merge' ELSE 'review' END) AS reason
           FROM events e, unnest(ARRAY[e.item_id, e.survivor_id]) AS one (id)
           WHERE e.kind IN ('merge', 'link') AND e.undone_at IS NULL GROUP BY one.id) d ON d.id = i.id
WHERE i.status = 'merged' ORDER BY i.iid COLLATE "C";

-- name: observations_estimate
-- From the cells instead of the rows: exact for whole months and one filter; part of a month counts by its days, and of
-- several filters the narrowest is an upper bound.
WITH counted AS (
    SELECT scope, id, n * (least($2::date, (month + interval '1 month - 1 day')::date) - greatest($1::date, month) + 1)
        / extract(day FROM month + interval '1 month - 1 day') AS n
    FROM month_cells
    WHERE month >= date_trunc('month', $1::date) AND month <= $2::date
      AND (cardinality($6::date[]) = 0 OR month = ANY ($6::date[])))
SELECT ceil(coalesce(least(
    (SELECT sum(n) FROM counted WHERE scope = 'a'),
    (SELECT coalesce(sum(n), 0) FROM counted WHERE scope = 'b' AND id = ANY ($3::int[]) HAVING cardinality($3::int[]) > 0),
    (SELECT coalesce(sum(n), 0) FROM counted WHERE scope = 'c' AND id = ANY ($4::int[]) HAVING cardinality($4::int[]) > 0),
    (SELECT coalesce(sum(n), 0) FROM counted WHERE scope = 'h' AND id = ANY ($5::int[]) HAVING cardinality($5::int[]) > 0)
), 0))::bigint AS count;

-- name: small_count
-- Brands, categories and merged items are few.
SELECT CASE $1::text WHEN 'brands' THEN (SELECT count(*) FROM brands WHERE item_count > 0)
       WHEN 'merged' THEN (SELECT count(*) FROM items WHERE status = 'merged')
       ELSE (SELECT count(*) FROM category_tree) END AS count;

-- name: changes_count
-- How many rows the steps from $2 to $3 have; a row that changed in several of them counts as often.
SELECT coalesce(sum(rows), 0)::bigint AS count FROM release_files
WHERE dataset = $1 AND split_part(name, '-', 1)::bigint > $2
  AND data_version = coalesce($3::bigint, (SELECT max(data_version) FROM releases WHERE dataset = $1));

-- name: named
-- The ids behind a filter's names, a category with those below it. As text, here and below: asyncpg knows arrays of text,
-- and asks each new connection about those of any other type, at 4 ms of the server.
SELECT ARRAY(SELECT id::text FROM brands WHERE slug = ANY ($1::text[]) ORDER BY brands.id) AS brand_ids,
       ARRAY(SELECT c.id::text FROM categories c
             WHERE EXISTS (SELECT FROM unnest($2::text[]) n(code) WHERE c.code = n.code OR starts_with(c.code, n.code || '.'))
             ORDER BY c.id) AS category_ids,
       ARRAY(SELECT id::text FROM channels WHERE code = ANY ($3::text[]) ORDER BY channels.id) AS channel_ids;

-- name: months_since
-- The months that versions after $1 touched, and whether each of them knows which.
SELECT coalesce(bool_and(months IS NOT NULL), true) AS known,
       ARRAY(SELECT DISTINCT m::text FROM data_versions v, unnest(v.months) m WHERE v.version > $1 ORDER BY 1) AS months
FROM data_versions WHERE version > $1;

-- name: channels
-- Names of what observations refer to by number.
SELECT id, code FROM channels ORDER BY id;

-- name: sources
-- Names of what observations refer to by number.
SELECT id, name FROM sources ORDER BY id;

-- name: newest
-- The snapshot's own data_version: an export says what it was made from.
SELECT coalesce(max(version), 0) AS version FROM data_versions;
