-- name: items
-- Rows as an export has them. $1, $2: items whose key is in this range; $3: changed since this data_version; $4, $5: of
-- these brands and categories, all where none is named. Withdrawn and merged items are told apart, in `gone`.
SELECT i.iid, i.name, to_json(i.alt_names)::text AS alt_names, b.slug AS brand, b.name AS brand_name, c.code AS category,
       i.product_type, i.identifiers::text AS identifiers, i.attributes::text AS attributes, i.version, i.first_seen_on,
       i.updated_at AT TIME ZONE 'UTC' AS updated_at, i.data_version
FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]));

-- name: impacts
-- The figures of the same items.
SELECT i.iid, p.indicator, p.per_unit::float8 AS per_unit, p.basis, p.method, s.name AS source, p.as_of
FROM impacts p JOIN items i ON i.id = p.item_id JOIN sources s ON s.id = p.source_id
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]));

-- name: observations
-- As every tool would make it, with its joins: a preview reads ten of them, and tests and benchmarks compare with it what
-- the workers make of `observations_raw`. $6, $7: days; $8: channels; $9: months that loads have touched, all where none.
-- An amount has as many digits as its currency; $10 and $11 name those that have others than two.
SELECT i.iid, o.day, h.code AS channel, CASE o.kind WHEN 's' THEN 'sale' ELSE 'listing' END AS kind,
       round(o.price_minor / n.unit, n.digits) AS price, round(o.list_minor / n.unit, n.digits) AS list_price,
       o.currency::text AS currency, o.units, s.name AS source
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
JOIN sources s ON s.id = o.source_id,
LATERAL (SELECT coalesce(($11::int[])[array_position($10::text[], o.currency::text)], 2) AS digits) d,
LATERAL (SELECT d.digits, 10::numeric ^ d.digits AS unit) n
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]))
  AND o.day >= $6::date AND o.day <= $7::date
  AND (cardinality($8::int[]) = 0 OR o.channel_id = ANY ($8::int[]))
  AND (cardinality($9::date[]) = 0 OR date_trunc('month', o.day)::date = ANY ($9::date[]));

-- name: brands
-- All of them; few enough for one part.
SELECT id, slug, name, item_count, to_json(top_categories)::text AS top_categories, to_json(channels)::text AS channels,
       first_seen_on, updated_at AT TIME ZONE 'UTC' AS updated_at
FROM brands ORDER BY slug;

-- name: categories
-- All of them.
SELECT code, to_json(path)::text AS path FROM categories ORDER BY code;

-- name: gone
-- What a copy of version $3 must drop: items that were withdrawn or merged since, and changed ones that a filter by brand
-- or category does not hold, whether or not it ever did.
SELECT i.iid, CASE i.status WHEN 'active' THEN 'outside' ELSE i.status END AS reason, i.survivor_iid
FROM items i
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.data_version > $3::bigint
  AND NOT (i.status = 'active' AND (cardinality($4::int[]) = 0 OR coalesce(i.brand_id = ANY ($4::int[]), false))
           AND (cardinality($5::int[]) = 0 OR coalesce(i.category_id = ANY ($5::int[]), false)));

-- name: named
-- The ids behind a filter's names, a category with those below it, and the names that nobody knows.
SELECT ARRAY(SELECT id FROM brands WHERE slug = ANY ($1::text[])) AS brand_ids,
       ARRAY(SELECT c.id FROM categories c, unnest($2::text[]) n(code)
             WHERE c.code = n.code OR starts_with(c.code, n.code || '.')) AS category_ids,
       ARRAY(SELECT id FROM channels WHERE code = ANY ($3::text[])) AS channel_ids;

-- name: months_since
-- The months that versions after $1 touched, and whether each of them knows which.
SELECT coalesce(bool_and(months IS NOT NULL), true) AS known,
       ARRAY(SELECT DISTINCT m FROM data_versions v, unnest(v.months) m WHERE v.version > $1 ORDER BY m) AS months
FROM data_versions WHERE version > $1;
