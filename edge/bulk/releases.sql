-- name: newest
-- The list of datasets: the newest release of each.
SELECT DISTINCT ON (r.dataset) r.dataset, r.data_version, r.rows, r.bytes, r.created_at, r.expires_at,
       (SELECT count(*) FROM release_files f WHERE (f.dataset, f.data_version) = (r.dataset, r.data_version)) AS files
FROM releases r ORDER BY r.dataset, r.data_version DESC;

-- name: listed
-- Releases of a dataset, the newest first, after the version that the page before ended with.
SELECT r.data_version, r.kept_as, r.rows, r.bytes, r.created_at, r.expires_at,
       (SELECT count(*) FROM release_files f WHERE (f.dataset, f.data_version) = (r.dataset, r.data_version)) AS files,
       count(*) OVER () + (SELECT count(*) FROM releases b WHERE b.dataset = $1 AND b.data_version >= $2) AS total
FROM releases r WHERE r.dataset = $1 AND ($2::bigint IS NULL OR r.data_version < $2)
ORDER BY r.data_version DESC LIMIT $3;

-- name: release
-- One release; without a version, the newest.
SELECT dataset, data_version, columns::text, rows, bytes, created_at, expires_at, signature::text, profile::text FROM releases
WHERE dataset = $1 AND ($2::bigint IS NULL OR data_version = $2) ORDER BY data_version DESC LIMIT 1;

-- name: release_of_moment
-- The release that was the newest at a moment.
SELECT dataset, data_version, columns::text, rows, bytes, created_at, expires_at, signature::text, profile::text FROM releases
WHERE dataset = $1 AND created_at <= $2 ORDER BY data_version DESC LIMIT 1;

-- name: release_from_moment
-- The first release at a moment or after it.
SELECT dataset, data_version, columns::text, rows, bytes, created_at, expires_at, signature::text, profile::text FROM releases
WHERE dataset = $1 AND created_at >= $2 ORDER BY data_version LIMIT 1;

-- name: releases_between
-- Both ends, and the one before the first: a change is what one release has and the one before has not.
SELECT data_version, created_at FROM releases WHERE dataset = $1 AND data_version <= $3
  AND data_version >= coalesce((SELECT max(b.data_version) FROM releases b WHERE b.dataset = $1 AND b.data_version < $2), $2)
ORDER BY data_version;

-- name: files
-- The manifest's files, in their order.
SELECT name, sha256, rows, bytes, min_key, max_key, statistics::text FROM release_files
WHERE dataset = $1 AND data_version = $2 ORDER BY place;

-- name: file
-- One file; without a version, of the newest release.
SELECT f.name, f.sha256, f.bytes FROM release_files f
WHERE f.dataset = $1 AND f.name = $3
  AND f.data_version = coalesce($2::bigint, (SELECT max(r.data_version) FROM releases r WHERE r.dataset = $1));

-- name: schema_changes
-- Also of releases that have expired.
SELECT data_version, change, name, type, nullable FROM schema_changes WHERE dataset = $1
ORDER BY data_version DESC, name COLLATE "C";

-- name: keys
-- Those that were replaced too: mirrors of old releases are checked with them.
SELECT key_id, public_key FROM release_keys ORDER BY first_used_at DESC, key_id;

-- name: reader
-- Whether the organization that a link was made for may still read, asked when the link is used: a link must not outlive
-- the contract.
SELECT rank FROM organization_rank($1);
