-- name: measure_backups
-- Whether what receives the log for backups is connected; no row where nothing was ever backed up.
SELECT active FROM pg_replication_slots WHERE slot_name = 'itemindex_backup';

-- name: measure_feeds
-- How many feeds fail, and how long the one that has waited longest is overdue.
SELECT count(*) FILTER (WHERE failures > 0), count(*) FILTER (WHERE failures = 0),
    coalesce(extract(epoch FROM max(statement_timestamp() - due_at)), 0)::float8
FROM feeds WHERE NOT paused;
