-- phase: expand
-- The list of brands in the order of their items is paged by key; without an index each page would sort all brands.

CREATE INDEX CONCURRENTLY IF NOT EXISTS brands_by_items ON brands ((-item_count), folded_name, id) WHERE item_count > 0;
