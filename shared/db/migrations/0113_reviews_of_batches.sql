-- phase: expand
-- The decisions that a bulk decision made.
CREATE INDEX CONCURRENTLY IF NOT EXISTS match_reviews_batch ON match_reviews (batch_id, id) WHERE batch_id IS NOT NULL;
