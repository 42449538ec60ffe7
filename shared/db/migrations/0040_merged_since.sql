-- phase: expand
-- Since which data_version an item is part of another's record: for copies of the index that follow it.

ALTER TABLE inactive_items ADD COLUMN data_version bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN inactive_items.data_version IS 'the first with the present owner; 0: before this was kept';
GRANT SELECT (no, kind, at, item_id, survivor_id, undone_at) ON events TO itemindex_worker;
