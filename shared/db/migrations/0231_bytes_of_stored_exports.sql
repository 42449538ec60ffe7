-- phase: expand
-- How many bytes of a result are in the object store, and how many bytes of exports the organizations of a plan may store.
ALTER TABLE jobs ADD COLUMN stored_bytes bigint;
COMMENT ON COLUMN jobs.stored_bytes IS 'null: published before this column existed; the manifest in result has it';
ALTER TABLE plans ADD COLUMN stored_export_bytes_max bigint;
COMMENT ON COLUMN plans.stored_export_bytes_max IS 'null: the setting STORED_EXPORT_BYTES_MAX';
ALTER TABLE plans ADD CONSTRAINT plans_stored_export_bytes_max_check CHECK (stored_export_bytes_max >= 0) NOT VALID;
