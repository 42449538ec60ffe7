-- name: months
-- How many rows each month has, from the rollups: every observation is in one rollup of a brand, so nothing is counted anew.
SELECT month, sum(n)::bigint FROM month_cells WHERE scope = 'b' GROUP BY month ORDER BY month;

-- name: identities
-- Every item whose observations are in the files, with the IID that they have there, in its order; the bytes of the IIDs, not
-- a locale, decide it.
SELECT id, iid, id AS owner_id FROM items WHERE status = 'active'
UNION ALL SELECT x.item_id, i.iid, i.id FROM inactive_items x JOIN items i ON i.id = x.owner_id
ORDER BY iid, id;

-- name: observations
-- Columns of fixed width only, so that rows can be read as one array. No order: sorting columns costs less here than there.
SELECT item_id, price_minor, coalesce(list_minor, -1), day, channel_id, units, source_id, kind, currency,
       coalesce(outlier, '-')
FROM observations WHERE day >= $1::date AND day < $2::date;

-- name: observations_of_range
-- The same of a part of a month that is too large to be held at once.
SELECT item_id, price_minor, coalesce(list_minor, -1), day, channel_id, units, source_id, kind, currency,
       coalesce(outlier, '-')
FROM observations WHERE day >= $1::date AND day < $2::date
  AND item_id IN (
    SELECT id FROM items WHERE iid >= $3::text COLLATE "C" AND iid < $4::text COLLATE "C" AND status = 'active'
    UNION ALL SELECT x.item_id FROM inactive_items x JOIN items i ON i.id = x.owner_id
    WHERE i.iid >= $3::text COLLATE "C" AND i.iid < $4::text COLLATE "C");

-- name: channels
-- Names of what observations refer to by number.
SELECT id, code FROM channels ORDER BY id;

-- name: sources
-- Names of what observations refer to by number.
SELECT id, name FROM sources ORDER BY id;

-- name: items
-- As CSV, where null is nothing and an empty text is in quotes; lists are joined by a character that no name has.
SELECT i.iid, i.name, nullif(array_to_string(i.alt_names, U&'\001F'), ''), i.status, i.survivor_iid, b.name, b.slug, c.code,
       i.product_type, i.identifiers, i.attributes, i.version, i.first_seen_on, i.updated_at AT TIME ZONE 'UTC',
       (SELECT coalesce(jsonb_agg(jsonb_build_object('source', s.name, 'id', t.source_item_id, 'license', s.license, 'observed_at',
               to_char(t.observed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
               ORDER BY s.name COLLATE "C", t.source_item_id COLLATE "C"), '[]')
        FROM item_sources t JOIN sources s ON s.id = t.source_id
        WHERE t.item_id = ANY(ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id)))
FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id
WHERE i.status <> 'withdrawn' ORDER BY i.iid;

-- name: impacts
-- Own figures only: a substitute for a missing one is the service's estimate, not data.
SELECT i.iid, m.indicator, m.per_unit, m.basis, m.method, s.name, m.as_of
FROM impacts m JOIN items i ON i.id = m.item_id JOIN sources s ON s.id = m.source_id
WHERE i.status = 'active' ORDER BY i.iid, m.indicator;

-- name: brands
-- In the order of bytes, like all files.
SELECT slug, name, item_count, nullif(array_to_string(top_categories, U&'\001F'), ''),
       nullif(array_to_string(channels, U&'\001F'), ''), first_seen_on
FROM brands WHERE item_count > 0 ORDER BY slug COLLATE "C";

-- name: categories
-- The parent's code is all but the last level of its own.
SELECT c.code, nullif(substring(c.code FROM '^(.*)\.[^.]*$'), ''), array_to_string(c.path, U&'\001F'), cardinality(c.path),
       (SELECT count(*) FROM items i WHERE i.category_id = c.id AND i.status = 'active')
FROM categories c
WHERE EXISTS (SELECT FROM categories d JOIN items i ON i.category_id = d.id AND i.status = 'active'
              WHERE d.code = c.code OR starts_with(d.code, c.code || '.'))
ORDER BY c.code COLLATE "C";

-- name: merged
-- Every item that is part of another's record, by what, and since which data_version.
SELECT i.iid AS "from", i.survivor_iid AS "to", coalesce(
           (SELECT max(CASE e.kind WHEN 'merge' THEN 'merge' ELSE 'review' END) FROM events e
            WHERE e.kind IN ('merge', 'link') AND e.undone_at IS NULL AND i.id IN (e.item_id, e.survivor_id)),
           (SELECT min(l.kind) FROM links l WHERE l.decision = 'link' AND i.id IN (l.left_id, l.right_id)), 'source') AS reason,
       x.data_version
FROM items i JOIN inactive_items x ON x.item_id = i.id WHERE i.status = 'merged' ORDER BY i.iid COLLATE "C";
