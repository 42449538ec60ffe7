-- name: item
-- By the IID that an operator names.
SELECT id FROM items WHERE iid = $1;

-- name: named
-- The items that an act names.
SELECT DISTINCT n.id FROM unnest($1::bigint[]) AS n (id) WHERE n.id IS NOT NULL;

-- name: latest_act
-- The act that makes an item what it is now: it is in effect, so it is among what changed the item.
SELECT max(e.no) FROM events e JOIN items i ON i.id = e.item_id JOIN item_changes c ON c.no = e.no AND c.item_id = e.item_id
WHERE i.iid = $1 AND e.kind IN ('merge', 'withdrawal') AND e.undone_at IS NULL;

-- name: together
-- Whether two items are part of one article now.
SELECT 1 FROM (SELECT coalesce(x.owner_id, n.id) AS owner_id FROM unnest(ARRAY[$1::bigint, $2::bigint]) AS n (id)
               LEFT JOIN inactive_items x ON x.item_id = n.id) owners
HAVING count(DISTINCT owner_id) = 1;

-- name: latest_of_pair
-- The newest decision on a pair that was not undone. $1, $2: its items, the one with the least id first.
SELECT max(e.no) FROM events e WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL
  AND least(e.item_id, e.survivor_id) = $1::bigint AND greatest(e.item_id, e.survivor_id) = $2::bigint;

-- name: active_before
-- How many items were active before an event. $1: those that it merges.
SELECT count(*) FROM items i
WHERE i.id = ANY($1::bigint[]) OR NOT EXISTS (SELECT FROM inactive_items x WHERE x.item_id = i.id);
