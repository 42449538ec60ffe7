-- name: kept
-- The first content that each item states: of a range of items, and of further ones. The letter of its unit, `-` without
-- one.
SELECT item_id, coalesce(left(per, 1), '-'), coalesce(numerator, 0), coalesce(denominator, 1) FROM stated_contents
WHERE place = 0 AND rule = $1 AND ((item_id >= $2::bigint AND item_id < $3::bigint) OR item_id = ANY ($4::bigint[]));

-- name: unread
-- What the others of them say; of the attributes only where one of $5 is there.
SELECT i.id, i.name, CASE WHEN i.attributes ?| $5::text[] THEN i.attributes END FROM items i
WHERE i.status = 'active' AND ((i.id >= $2::bigint AND i.id < $3::bigint) OR i.id = ANY ($4::bigint[]))
  AND NOT EXISTS (SELECT FROM stated_contents c WHERE c.item_id = i.id AND c.rule = $1);
