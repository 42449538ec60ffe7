-- phase: expand
-- A job remembers the trace of the request that made it, so that what a worker logs and measures belongs to it. Work of
-- the house, and jobs of edges that do not know the column yet, have none.

ALTER TABLE jobs ADD COLUMN traceparent text CHECK (length(traceparent) <= 256);
