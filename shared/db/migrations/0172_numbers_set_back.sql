-- phase: expand
-- Each load drew a number for its source, known or not, and they end at 32,767. They go on after the last one that is in
-- use. Under the lock of events: a load that is under way has drawn a number that is not visible yet.
SELECT pg_advisory_xact_lock(398147225);
SELECT setval('sources_id_seq', greatest(max(id), 1), max(id) IS NOT NULL) FROM sources;
