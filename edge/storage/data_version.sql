-- name: newest
-- The primary key's last entry: one index probe.
SELECT version FROM data_versions ORDER BY version DESC LIMIT 1;
