-- name: newest
-- The primary key's last entry: one index probe. The moment tells it from the same number of a database that was restored.
SELECT version, committed_at::text FROM data_versions ORDER BY version DESC LIMIT 1;
