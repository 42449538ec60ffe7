-- name: newest
-- Of the very snapshot that the report reads, whatever the job was made for: an answer says what it was made from.
SELECT version FROM data_versions ORDER BY version DESC LIMIT 1;
