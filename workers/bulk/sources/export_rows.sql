-- name: observations
-- Fixed width only, so that a million rows are one array and no row is touched by itself; names come in later. Where items
-- are not narrowed, their table is not read.
SELECT item_id, price_minor, coalesce(list_minor, -1), day, channel_id, units, source_id, kind, currency,
       coalesce(outlier, '-')
FROM observations
WHERE item_id >= $1::bigint AND item_id < $2::bigint AND day >= $3::date AND day <= $4::date
  AND (cardinality($5::int[]) = 0 OR channel_id = ANY ($5::int[]));

-- name: observations_of_items
-- The same of a few items: by their index instead of past all the others.
SELECT o.item_id, o.price_minor, coalesce(o.list_minor, -1), o.day, o.channel_id, o.units, o.source_id, o.kind, o.currency,
       coalesce(o.outlier, '-')
FROM items i JOIN LATERAL (
    SELECT i.id UNION ALL SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS own (id) ON true
JOIN observations o ON o.item_id = own.id
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]))
  AND o.day >= $6::date AND o.day <= $7::date
  AND (cardinality($8::int[]) = 0 OR o.channel_id = ANY ($8::int[]));

-- name: months
-- The months that hold rows: each is copied by itself, so that files are in the order of time.
SELECT DISTINCT month FROM month_cells
WHERE scope = 'a' AND month >= date_trunc('month', $1::date) AND month <= $2::date
  AND (cardinality($3::date[]) = 0 OR month = ANY ($3::date[]))
ORDER BY month;

-- name: iids
-- The names of a part's items; items not among them are not exported. A merged item's observations have the name of the
-- item that it was merged into, whichever of both is in the part's range.
SELECT i.id, i.id AS owner_id, i.iid FROM items i
WHERE i.id >= $1::bigint AND i.id < $2::bigint AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]))
UNION ALL
SELECT x.item_id, i.id, i.iid FROM inactive_items x JOIN items i ON i.id = x.owner_id
WHERE ((x.item_id >= $1::bigint AND x.item_id < $2::bigint) OR (i.id >= $1::bigint AND i.id < $2::bigint))
  AND i.status = 'active' AND i.data_version > $3::bigint
  AND (cardinality($4::int[]) = 0 OR i.brand_id = ANY ($4::int[]))
  AND (cardinality($5::int[]) = 0 OR i.category_id = ANY ($5::int[]));
