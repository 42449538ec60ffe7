-- phase: expand
-- The decisions on a random sample.
CREATE INDEX CONCURRENTLY IF NOT EXISTS match_reviews_sample ON match_reviews (sample_id) WHERE sample_id IS NOT NULL;
