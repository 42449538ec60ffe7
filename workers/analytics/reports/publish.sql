-- name: newest
-- Of the very snapshot that the report reads, whatever the job was made for: an answer says what it was made from. And
-- whether the rollups are in the layout $1 that the code reads: right after an upgrade they may not be yet.
SELECT coalesce(max(version), 0) AS version,
       EXISTS (SELECT FROM derived_layouts WHERE name = 'month_cells' AND layout = $1::integer) AS readable
FROM data_versions;
