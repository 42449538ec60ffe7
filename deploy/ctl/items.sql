-- name: withdraw
-- The row stays: a withdrawn IID is answered 410 for ever and is never given to another item.
UPDATE items SET status = 'withdrawn', survivor_iid = NULL, version = version + 1, updated_at = statement_timestamp(),
    data_version = $2
WHERE iid = $1 AND status <> 'withdrawn' RETURNING brand_id;

-- name: merge
-- Only into an active item, so that no redirect leads to another redirect.
UPDATE items SET status = 'merged', survivor_iid = $2, version = version + 1, updated_at = statement_timestamp(),
    data_version = $3
WHERE iid = $1 AND iid <> $2 AND status = 'active' AND EXISTS (SELECT FROM items WHERE iid = $2 AND status = 'active')
  AND NOT EXISTS (SELECT FROM items WHERE survivor_iid = $1)
RETURNING brand_id;

-- name: count_brand
-- The brand of an item that left has one less.
UPDATE brands SET item_count = (SELECT count(*) FROM items WHERE brand_id = $1 AND status = 'active') WHERE id = $1;
