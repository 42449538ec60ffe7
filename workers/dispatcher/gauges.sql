-- name: measure_backups
-- Whether what receives the log for backups is connected; no row where nothing was ever backed up.
SELECT active FROM pg_replication_slots WHERE slot_name = 'itemindex_backup';

-- name: measure_feeds
-- How many feeds fail, and how long the one that has waited longest is overdue.
SELECT count(*) FILTER (WHERE failures > 0), count(*) FILTER (WHERE failures = 0),
    coalesce(extract(epoch FROM max(statement_timestamp() - due_at)), 0)::float8
FROM feeds WHERE NOT paused;

-- name: measure_loads
-- Rows of rejects, rejects beyond the bound of their load, loads, and files. A summary whose count is no number counts 0.
SELECT (SELECT count(*) FROM rejects),
       (SELECT coalesce(sum(CASE jsonb_typeof(summary -> 'rejects_dropped') WHEN 'number'
                            THEN (summary -> 'rejects_dropped')::numeric END), 0)::float8 FROM loads),
       (SELECT count(*) FROM loads), (SELECT count(*) FROM load_files);
