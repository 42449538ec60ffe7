-- phase: expand
-- A record says who decided that its items are one article; without an index each would read all decisions for it.

CREATE INDEX CONCURRENTLY IF NOT EXISTS events_pairs ON events (item_id, survivor_id) WHERE survivor_id IS NOT NULL;
