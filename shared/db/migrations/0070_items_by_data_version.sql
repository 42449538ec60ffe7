-- phase: expand
-- What changed since a data_version. A range index, so that an update of an item need not write all indexes of items.
CREATE INDEX CONCURRENTLY IF NOT EXISTS items_data_version ON items USING brin (data_version) WITH (pages_per_range = 8, autosummarize = on);
