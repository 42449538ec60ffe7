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
