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

-- name: latest_decision
-- The newest decision on a pair that was not undone.
SELECT max(e.no) FROM events e JOIN items i ON i.iid = $1 JOIN items o ON o.iid = $2
WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL
  AND least(e.item_id, e.survivor_id) = least(i.id, o.id) AND greatest(e.item_id, e.survivor_id) = greatest(i.id, o.id);

-- name: waiting_reviews
-- Decisions of the dashboard that are no events yet, in their order.
SELECT id, left_id, right_id, decision, person, batch_id::text, batch FROM match_reviews WHERE applied_at IS NULL ORDER BY id FOR UPDATE;

-- name: items_of_batches
-- The items of bulk decisions that are undone. $1: their ids in the dashboard.
SELECT p.item_id, p.survivor_id FROM events e JOIN events p ON p.part_of = e.no
WHERE e.kind = 'decisions' AND e.undone_at IS NULL AND e.terms ->> 'batch' = ANY($1::text[]);

-- name: batch
-- The event that a bulk decision of the dashboard became.
SELECT no FROM events WHERE kind = 'decisions' AND undone_at IS NULL AND terms ->> 'batch' = $1;

-- name: applied
-- $2: the event that the decision became, or that it undid; null where it changed nothing.
UPDATE match_reviews SET applied_at = statement_timestamp(), event_no = $2 WHERE id = $1;

-- name: latest_of_pair
-- The same by the items' ids.
SELECT max(e.no) FROM events e WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL
  AND least(e.item_id, e.survivor_id) = $1::bigint AND greatest(e.item_id, e.survivor_id) = $2::bigint;

-- name: there
-- Which of these items exist.
SELECT id FROM items WHERE id = ANY($1::bigint[]);

-- name: active_before
-- How many items were active before an event. $1: those that it merges.
SELECT count(*) FROM items i
WHERE i.id = ANY($1::bigint[]) OR NOT EXISTS (SELECT FROM inactive_items x WHERE x.item_id = i.id);
