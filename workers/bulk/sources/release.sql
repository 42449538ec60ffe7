-- name: files
-- Files of a release, by their places.
SELECT place, sha256, rows, bytes, statistics FROM release_files
WHERE dataset = $1 AND data_version = $2 AND place >= $3::bigint AND place < $4::bigint ORDER BY place;

-- name: changed
-- Files of a release of changes that hold what changed after the release $3.
SELECT sha256 FROM release_files
WHERE dataset = $1 AND data_version = $2 AND split_part(name, '-', 1)::bigint > $3::bigint ORDER BY place;

-- name: columns
-- The columns of a release's files, as its manifest names them.
SELECT columns FROM releases WHERE dataset = $1 AND data_version = $2;
