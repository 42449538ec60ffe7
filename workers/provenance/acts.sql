-- name: acts
-- All that operators said and did not take back, and by which event each named item first was; items that are gone have none.
SELECT e.no, e.item_id, e.survivor_id FROM events e WHERE e.item_id IS NOT NULL AND e.undone_at IS NULL ORDER BY e.no;

-- name: first_claims
-- An item that a loader of an older release made has no claims; it was there before all acts.
SELECT i.id, coalesce((SELECT min(c.no) FROM item_claims c WHERE c.item_id = i.id), 0) FROM items i WHERE i.id = ANY($1::bigint[]);

-- name: current
-- What the readers join now.
SELECT item_id, owner_id FROM inactive_items;

-- name: forget
-- Items that are active again, or gone.
DELETE FROM inactive_items WHERE item_id = ANY($1::bigint[]);

-- name: keep
-- $1, $2: items and their owners.
INSERT INTO inactive_items (item_id, owner_id) SELECT * FROM unnest($1::bigint[], $2::bigint[])
ON CONFLICT (item_id) DO UPDATE SET owner_id = excluded.owner_id;

-- name: forget_changes
-- Acts that are undone, or have no effect any more. $1: those that have.
DELETE FROM item_changes c USING events e
WHERE e.no = c.no AND e.item_id IS NOT NULL AND NOT e.no = ANY($1::integer[]) RETURNING c.item_id;

-- name: keep_changes
-- An act changes the record of its item; the survivor's, whose part the item is, changes with it.
INSERT INTO item_changes (item_id, no, at) SELECT e.item_id, e.no, e.at FROM events e WHERE e.no = ANY($1::integer[])
ON CONFLICT (item_id, no) DO NOTHING RETURNING item_id;
