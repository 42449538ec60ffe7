-- phase: expand
-- A published result that its store does not have at the moment is looked for again before it counts as lost.

ALTER TABLE jobs ADD COLUMN missing_since timestamptz;
COMMENT ON COLUMN jobs.missing_since IS 'since when the store of results does not have the published bytes; null: it has';
GRANT UPDATE (missing_since) ON jobs TO itemindex_edge;
