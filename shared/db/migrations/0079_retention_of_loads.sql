-- phase: expand
-- The dispatcher deletes rejects, loads that changed nothing, and the names of files, each after its time.

GRANT SELECT, DELETE ON loads, load_files, rejects TO itemindex_worker;
GRANT SELECT (load_id) ON events TO itemindex_worker;
