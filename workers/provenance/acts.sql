-- name: acts
-- All merges, withdrawals and decisions on pairs that were not undone.
SELECT e.no, e.kind, e.item_id, e.survivor_id FROM events e WHERE e.item_id IS NOT NULL AND e.undone_at IS NULL ORDER BY e.no;

-- name: first_claims
-- An item that a loader of an older release made has no claims; it was there before all acts.
SELECT i.id, coalesce((SELECT min(c.no) FROM item_claims c WHERE c.item_id = i.id), 0) FROM items i WHERE i.id = ANY($1::bigint[]);

-- name: current
-- The rows of these items that readers join now.
SELECT item_id, owner_id FROM inactive_items WHERE item_id = ANY($1::bigint[]);

-- name: iids
-- For a report that people read.
SELECT id, iid, name FROM items WHERE id = ANY($1::bigint[]);

-- name: linked
-- The items that are connected with these by a link that is followed, or by their source.
SELECT right_id FROM links WHERE left_id = ANY($1::bigint[]) AND decision = 'link'
UNION SELECT left_id FROM links WHERE right_id = ANY($1::bigint[]) AND decision = 'link'
UNION SELECT o.item_id FROM declared_articles d JOIN declared_articles o USING (source_id, article)
WHERE d.item_id = ANY($1::bigint[]);

-- name: forget
-- Items that are active again, or gone.
DELETE FROM inactive_items WHERE item_id = ANY($1::bigint[]);

-- name: keep
-- $1, $2: items and their owners. The version is the one that this event commits.
INSERT INTO inactive_items (item_id, owner_id, data_version)
SELECT n.item_id, n.owner_id, coalesce((SELECT max(version) FROM data_versions), 0) + 1
FROM unnest($1::bigint[], $2::bigint[]) AS n (item_id, owner_id)
ON CONFLICT (item_id) DO UPDATE SET owner_id = excluded.owner_id, data_version = excluded.data_version;

-- name: forget_changes
-- Acts that are undone, or have no effect any more. $1: those that have.
DELETE FROM item_changes c USING events e
WHERE e.no = c.no AND e.item_id IS NOT NULL AND NOT e.no = ANY($1::integer[]) RETURNING c.item_id;

-- name: keep_changes
-- A merge or a withdrawal changes the record of its item, and with it the survivor's; an accepted pair changes both. A
-- separation changes nothing of its own: both records are as they were before they were linked.
INSERT INTO item_changes (item_id, no, at)
SELECT DISTINCT one.id, e.no, e.at
FROM events e, unnest(ARRAY[e.item_id, CASE WHEN e.kind = 'link' THEN e.survivor_id END]) AS one (id)
WHERE e.no = ANY($1::integer[]) AND e.kind <> 'separation' AND one.id IS NOT NULL
ON CONFLICT (item_id, no) DO NOTHING RETURNING item_id;
