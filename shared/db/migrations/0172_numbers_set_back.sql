-- phase: expand
-- Each load drew a number for each source, brand, category and channel that it named, known or not, and numbers of sources
-- end at 32,767. They go on after the last one that is in use. Under the lock of events: a load that is under way has
-- drawn numbers that are not visible yet.
SELECT pg_advisory_xact_lock(398147225);
SELECT setval('sources_id_seq', greatest(max(id), 1), max(id) IS NOT NULL) FROM sources;
SELECT setval('brands_id_seq', greatest(max(id), 1), max(id) IS NOT NULL) FROM brands;
SELECT setval('categories_id_seq', greatest(max(id), 1), max(id) IS NOT NULL) FROM categories;
SELECT setval('channels_id_seq', greatest(max(id), 1), max(id) IS NOT NULL) FROM channels;
