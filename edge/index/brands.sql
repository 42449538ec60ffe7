-- name: page
-- Keyset, not offset: a page costs the same however deep it is, and none overlaps another when brands are added.
SELECT id, name, slug, item_count, top_categories, channels, first_seen_on, updated_at
FROM brands
WHERE item_count > 0
  AND ($1::text IS NULL OR folded_name LIKE $1 || '%')
  AND ($2::text IS NULL OR (folded_name, id) > ($2, $3::integer))
ORDER BY folded_name, id
LIMIT $4;

-- name: page_by_items
-- The same by key, the largest brands first; $2 is the negative count, so that one comparison of rows serves.
SELECT id, name, slug, item_count, top_categories, channels, first_seen_on, updated_at
FROM brands
WHERE item_count > 0
  AND ($1::text IS NULL OR folded_name LIKE $1 || '%')
  AND ($2::bigint IS NULL OR (-item_count, folded_name, id) > ($2, $3::text, $4::integer))
ORDER BY -item_count, folded_name, id
LIMIT $5;

-- name: total
-- Counted apart, so that the page itself can stop at its last row.
SELECT count(*) AS total FROM brands WHERE item_count > 0 AND ($1::text IS NULL OR folded_name LIKE $1 || '%');
