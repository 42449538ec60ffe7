-- name: item
-- Whether an act may be made on it.
SELECT id, status FROM items WHERE iid = $1;

-- name: named
-- The items that an act names.
SELECT DISTINCT n.id FROM unnest($1::bigint[]) AS n (id) WHERE n.id IS NOT NULL;

-- name: latest_act
-- The act that makes an item what it is now: it is in effect, so it is among what changed the item.
SELECT max(e.no) FROM events e JOIN items i ON i.id = e.item_id JOIN item_changes c ON c.no = e.no AND c.item_id = e.item_id
WHERE i.iid = $1 AND e.kind = $2 AND e.undone_at IS NULL;

-- name: together
-- Whether two items are part of one article now.
SELECT 1 FROM (SELECT coalesce(x.owner_id, n.id) AS owner_id FROM unnest(ARRAY[$1::bigint, $2::bigint]) AS n (id)
               LEFT JOIN inactive_items x ON x.item_id = n.id) owners
HAVING count(DISTINCT owner_id) = 1;
