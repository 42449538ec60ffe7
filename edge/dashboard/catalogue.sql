-- name: current_prices
-- The newest price of each item in each channel: what a shop asks now, not what it asked in a month. $1 to $3 are the channels of
-- the items' records with the last day on which each was seen there, $4 the days before those: a condition of its own, by which the
-- executor leaves out the partitions of other months before it opens them, where there may be hundreds. The items' observations are
-- read once and by their index, whatever the planner knows: right after a large load, before any statistics, it joined all
-- observations first, which took longer than a page may wait. Merged items count as the one that they were merged into.
WITH own AS MATERIALIZED (
    SELECT seen.iid, seen.channel, seen.day, h.id AS channel_id, i.id || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS ids
    FROM unnest($1::text[], $2::text[], $3::date[]) AS seen(iid, channel, day)
    JOIN items i ON i.iid = seen.iid
    JOIN channels h ON h.code = seen.channel),
observed AS MATERIALIZED (
    SELECT o.item_id, o.channel_id, o.currency, o.day, o.price_minor FROM observations o
    WHERE o.item_id = ANY((SELECT array_agg(item_id) FROM own, unnest(ids) AS item_id)::bigint[]) AND o.day = ANY($4::date[])
      AND o.outlier IS NULL AND o.kind = 'l')
SELECT DISTINCT ON (own.iid, own.channel, o.currency) own.iid, own.channel, o.currency, o.day, o.price_minor
FROM own JOIN observed o ON o.item_id = ANY(own.ids) AND o.channel_id = own.channel_id AND o.day BETWEEN own.day - 30 AND own.day
ORDER BY own.iid, own.channel, o.currency, o.day DESC, o.price_minor;

-- name: days_with_prices
-- The first and the last day that has prices, for each currency, from the cells of the reports: no observation is read. `days`
-- packs 31 counts of one width, after a byte for the number of columns and one for that width (workers/analytics/rollups/codec.py).
SELECT ends.currency,
       (SELECT min(m.month + d) FROM month_cells m, generate_series(0, 30) AS d
        WHERE m.scope = $1::text::"char" AND m.id = ANY($2::integer[]) AND m.month = ends.first_month AND m.currency = ends.currency
          AND substring(m.days FROM 3 + d * get_byte(m.days, 1) FOR get_byte(m.days, 1))
              <> decode(repeat('00', get_byte(m.days, 1)), 'hex')) AS first_day,
       (SELECT max(m.month + d) FROM month_cells m, generate_series(0, 30) AS d
        WHERE m.scope = $1::text::"char" AND m.id = ANY($2::integer[]) AND m.month = ends.last_month AND m.currency = ends.currency
          AND substring(m.days FROM 3 + d * get_byte(m.days, 1) FOR get_byte(m.days, 1))
              <> decode(repeat('00', get_byte(m.days, 1)), 'hex')) AS last_day
FROM (SELECT currency, min(month) AS first_month, max(month) AS last_month, sum(n) AS prices FROM month_cells
      WHERE scope = $1::text::"char" AND id = ANY($2::integer[]) AND kind IN ('l', 's') GROUP BY currency) ends
ORDER BY ends.prices DESC, ends.currency;

-- name: sources
-- Whose data this is, by the terms of the newest loads.
SELECT name, title, license, url, attribution FROM sources ORDER BY rank NULLS LAST, title;

-- name: brand
-- One brand; one without items is not shown.
SELECT id, name, slug, item_count AS items, first_seen_on FROM brands WHERE slug = $1 AND item_count > 0;

-- name: category
-- One category with the categories directly below it, the largest first; one without items is not in the tree.
SELECT t.code, c.path, t.item_count_total AS items,
       ARRAY(SELECT b.category_id FROM category_tree b WHERE b.code = t.code OR starts_with(b.code, t.code || '.')) AS ids, (
    SELECT json_agg(json_build_object('code', k.code, 'name', d.path[cardinality(d.path)], 'items', k.item_count_total)
                    ORDER BY k.item_count_total DESC, k.code)
    FROM category_tree k JOIN categories d ON d.id = k.category_id WHERE k.parent = t.code) AS children
FROM category_tree t JOIN categories c ON c.id = t.category_id WHERE t.code = $1;

-- name: items_of_brand
-- The first $2 items of the brands $1 by name.
SELECT iid FROM items WHERE status = 'active' AND brand_id = ANY ($1::int[]) ORDER BY name, iid LIMIT $2;

-- name: items_of_category
-- The first $2 items of the categories $1 by name.
SELECT iid FROM items WHERE status = 'active' AND category_id = ANY ($1::int[]) ORDER BY name, iid LIMIT $2;

-- name: alike
-- Some items of the same brand, those of the same category first. A brand may have a hundred thousand items: a few hundred are read.
SELECT n.iid, n.name FROM items i
CROSS JOIN LATERAL (SELECT s.iid, s.name, s.category_id FROM items s
                    WHERE s.brand_id = i.brand_id AND s.status = 'active' AND s.iid <> i.iid LIMIT 500) n
WHERE i.iid = $1 ORDER BY n.category_id IS DISTINCT FROM i.category_id, n.name, n.iid LIMIT $2;

-- name: longest_history
-- The category with the longest history, whose question shows most: its first and last month are read by the key of the cells.
SELECT t.code, c.path[cardinality(c.path)] AS name
FROM category_tree t JOIN categories c ON c.id = t.category_id
CROSS JOIN LATERAL (SELECT month FROM month_cells WHERE scope = 'c' AND id = t.category_id ORDER BY month LIMIT 1) begins
CROSS JOIN LATERAL (SELECT month FROM month_cells WHERE scope = 'c' AND id = t.category_id ORDER BY month DESC LIMIT 1) ends
ORDER BY ends.month - begins.month DESC, t.item_count_total DESC, t.code LIMIT 1;

-- name: most_items
-- The category with most items: a few hundred rows are read once for each data_version.
SELECT code FROM category_tree ORDER BY item_count_total DESC, code LIMIT 1;
