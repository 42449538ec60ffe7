-- name: brands
-- Keyset, not offset: a page costs the same however deep it is, and none overlaps another when brands are added.
SELECT id, name, slug, item_count, top_categories, channels, first_seen_on, updated_at
FROM brands
WHERE item_count > 0
  AND ($1::text IS NULL OR folded_name LIKE $1 || '%')
  AND ($2::text IS NULL OR (folded_name, id) > ($2, $3::integer))
ORDER BY folded_name, id
LIMIT $4;

-- name: brands_by_items
-- The same by key, the largest brands first; $2 is the negative count, so that one comparison of rows serves.
SELECT id, name, slug, item_count, top_categories, channels, first_seen_on, updated_at
FROM brands
WHERE item_count > 0
  AND ($1::text IS NULL OR folded_name LIKE $1 || '%')
  AND ($2::bigint IS NULL OR (-item_count, folded_name, id) > ($2, $3::text, $4::integer))
ORDER BY -item_count, folded_name, id
LIMIT $5;

-- name: brands_total
-- Counted apart, so that the page itself can stop at its last row.
SELECT count(*) AS total FROM brands WHERE item_count > 0 AND ($1::text IS NULL OR folded_name LIKE $1 || '%');

-- name: categories
-- Keyset in the order of codes. A category without items, its own or below it, is not in the tree.
SELECT t.code, c.path[cardinality(c.path)] AS name, c.path, t.parent, t.level, t.item_count, t.item_count_total,
       (SELECT count(*) FROM category_tree k WHERE k.parent = t.code) AS children
FROM category_tree t JOIN categories c ON c.id = t.category_id
WHERE ($1::text IS NULL OR t.parent = $1) AND ($2::integer IS NULL OR t.level = $2)
  AND ($3::text IS NULL OR starts_with(split_part(t.code, '.', -1), $3)) AND ($4::text IS NULL OR t.code > $4)
ORDER BY t.code LIMIT $5;

-- name: categories_total
-- Counted apart, so that the page itself can stop at its last row; and whether the parent that is asked for exists.
SELECT count(*) AS total, $1::text IS NULL OR EXISTS (SELECT FROM category_tree WHERE code = $1) AS parent_exists
FROM category_tree t
WHERE ($1::text IS NULL OR t.parent = $1) AND ($2::integer IS NULL OR t.level = $2)
  AND ($3::text IS NULL OR starts_with(split_part(t.code, '.', -1), $3));

-- name: channels
-- From the cells of the reports, where each channel's observations are counted by month: no observation is read. `days`
-- packs 31 counts of one width, after a byte for the number of columns and one for that width (workers/analytics/rollups/codec.py).
SELECT h.code, seen.observations, (
    SELECT max(m.month + d) FROM month_cells m, generate_series(0, 30) AS d
    WHERE m.scope = 'h' AND m.id = h.id AND m.month = seen.last_month
      AND substring(m.days FROM 3 + d * get_byte(m.days, 1) FOR get_byte(m.days, 1))
          <> decode(repeat('00', get_byte(m.days, 1)), 'hex')) AS last_seen_on
FROM channels h
CROSS JOIN LATERAL (
    SELECT sum(n)::bigint AS observations, max(month) AS last_month FROM month_cells WHERE scope = 'h' AND id = h.id) seen
WHERE seen.observations > 0 AND ($1::text IS NULL OR starts_with(lower(h.code), lower($1)))
  AND ($2::text IS NULL OR h.code COLLATE "C" > $2)
ORDER BY h.code COLLATE "C" LIMIT $3;

-- name: channels_total
-- Counted apart, so that the page itself can stop at its last row.
SELECT count(*) AS total FROM channels h
WHERE EXISTS (SELECT FROM month_cells WHERE scope = 'h' AND id = h.id)
  AND ($1::text IS NULL OR starts_with(lower(h.code), lower($1)));
