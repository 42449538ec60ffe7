-- phase: expand
-- By what it was read from a load is known again. Loads of before have none, and their files are read again.

ALTER TABLE loads ADD COLUMN inputs bytea;
COMMENT ON COLUMN loads.inputs IS
    'SHA-256 of all that the load was read from; null where its outcome depends on the day or the index as well';
