-- name: list
-- For operators: what is kept, how large it is, and until when.
SELECT r.dataset, r.data_version, r.kept_as,
       (SELECT count(*) FROM release_files f WHERE (f.dataset, f.data_version) = (r.dataset, r.data_version)) AS files,
       r.rows, r.bytes, r.created_at, r.expires_at
FROM releases r ORDER BY r.data_version DESC, r.dataset;
