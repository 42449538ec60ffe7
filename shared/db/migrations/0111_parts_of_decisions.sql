-- phase: expand
-- The decisions that are part of a bulk decision.
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_parts ON events (part_of) WHERE part_of IS NOT NULL;
