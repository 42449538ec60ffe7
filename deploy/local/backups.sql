-- name: identify
-- The cluster and its timeline: after a restore the log goes another way from there, so its files must not be mixed.
SELECT (SELECT system_identifier FROM pg_control_system())::text || '-' ||
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);

-- name: moment
-- The server's clock, which the moments of its commits are of.
SELECT clock_timestamp();

-- name: is_empty
-- Whether the database holds no load: nothing was ever written into its table of data_versions. By the table's size, because
-- the login of backups may read no table.
SELECT coalesce(sum(pg_relation_size(c.oid)), 0) = 0 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relname = 'data_versions';

-- name: beat
-- A commit of nothing: a quiet database has a moment to be restored to each second, too.
SELECT pg_logical_emit_message(true, 'itemindex-backup', '');

-- name: written
-- How far the log has been written: the commit just made is before it.
SELECT pg_current_wal_flush_lsn()::text;

-- name: reserve
-- A slot that holds the log from now on, unless there is one.
SELECT pg_create_physical_replication_slot($1, true)
WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1);

-- name: received
-- Whether the receiver has stored the log up to there.
SELECT coalesce((SELECT restart_lsn >= $1::pg_lsn FROM pg_replication_slots WHERE slot_name = $2), false);

-- name: owner
-- Who may read the database's tables.
SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database();

-- name: newest
-- What a restored database holds.
SELECT coalesce(max(version), 0), count(*) FROM data_versions;
