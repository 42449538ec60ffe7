-- phase: expand
-- What the category tree is counted from, without reading the items themselves.
CREATE INDEX CONCURRENTLY items_active_category ON items (category_id) WHERE status = 'active';
