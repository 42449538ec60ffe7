-- name: export_snapshot
-- Other connections read the very same rows by this name, as long as this transaction stays open.
SELECT pg_export_snapshot();
