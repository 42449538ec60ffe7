-- name: page
-- Keyset in the order of codes. A category without items, its own or below it, is not in the tree.
SELECT t.code, c.path, t.parent, t.level, t.item_count, t.item_count_total,
       (SELECT count(*) FROM category_tree k WHERE k.parent = t.code) AS children
FROM category_tree t JOIN categories c ON c.id = t.category_id
WHERE ($1::text IS NULL OR t.parent = $1) AND ($2::integer IS NULL OR t.level = $2)
  AND ($3::text IS NULL OR starts_with(split_part(t.code, '.', -1), $3)) AND ($4::text IS NULL OR t.code > $4)
ORDER BY t.code LIMIT $5;

-- name: total
-- Counted apart, so that the page itself can stop at its last row; and whether the parent that is asked for exists.
SELECT count(*) AS total, $1::text IS NULL OR EXISTS (SELECT FROM category_tree WHERE code = $1) AS parent_exists
FROM category_tree t
WHERE ($1::text IS NULL OR t.parent = $1) AND ($2::integer IS NULL OR t.level = $2)
  AND ($3::text IS NULL OR starts_with(split_part(t.code, '.', -1), $3));
