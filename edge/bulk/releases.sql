-- name: newest
-- The list of datasets: the newest release of each.
SELECT DISTINCT ON (r.dataset) r.dataset, r.data_version, r.rows, r.bytes, r.created_at, r.expires_at,
       (SELECT count(*) FROM release_files f WHERE (f.dataset, f.data_version) = (r.dataset, r.data_version)) AS files
FROM releases r ORDER BY r.dataset, r.data_version DESC;

-- name: listed
-- Releases of a dataset, the newest first, after the version that the page before ended with.
SELECT r.data_version, r.rows, r.bytes, r.created_at, r.expires_at,
       (SELECT count(*) FROM release_files f WHERE (f.dataset, f.data_version) = (r.dataset, r.data_version)) AS files,
       count(*) OVER () + (SELECT count(*) FROM releases b WHERE b.dataset = $1 AND b.data_version >= $2) AS total
FROM releases r WHERE r.dataset = $1 AND ($2::bigint IS NULL OR r.data_version < $2)
ORDER BY r.data_version DESC LIMIT $3;

-- name: kept
-- Releases of a dataset, the newest first: of one version, the newest alone, or without a limit all.
SELECT dataset, data_version, columns::text, rows, bytes, created_at, expires_at, signature::text,
       (profile->>'since')::bigint AS since FROM releases
WHERE dataset = $1 AND ($2::bigint IS NULL OR data_version = $2) ORDER BY data_version DESC LIMIT $3;

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

-- name: profile
-- What only descriptions say of a release.
SELECT profile::text FROM releases WHERE dataset = $1 AND data_version = $2;

-- name: schema_changes
-- Also of releases that have expired.
SELECT data_version, change, name, type, nullable FROM schema_changes WHERE dataset = $1
ORDER BY data_version DESC, name COLLATE "C";

-- name: keys
-- Those that were replaced too: mirrors of old releases are checked with them.
SELECT key_id, public_key FROM release_keys ORDER BY first_used_at DESC, key_id;

-- name: catalogue
-- The newest catalogue of the kept releases.
SELECT sha256, bytes FROM release_catalogues ORDER BY id DESC LIMIT 1;

-- name: first_moment
-- The creation date of the bucket, which ListBuckets states.
SELECT created_at FROM releases ORDER BY created_at LIMIT 1;

-- name: versions
-- Which releases are kept, for a caller who asks for one that is not.
SELECT DISTINCT data_version FROM releases ORDER BY data_version;

-- name: bucket_entries
-- One page of the bucket's keys that begin with $1, in their order. With a delimiter $2, keys that have it behind the
-- prefix are one entry. $3: only keys after it; $4: only entries after it. $6 and $7 narrow what is read where the prefix
-- names a dataset and its newest release, whose keys then have `latest` in place of its number.
WITH keys AS (
    SELECT f.dataset || '/' || CASE WHEN $7::bigint IS NULL THEN f.data_version::text ELSE 'latest' END || '/' || f.name
               COLLATE "C" AS key, f.sha256, f.bytes, r.created_at
    FROM release_files f JOIN releases r USING (dataset, data_version)
    WHERE starts_with(f.dataset, $6) AND ($7::bigint IS NULL OR (f.dataset, f.data_version) = ($6, $7))
), entries AS (
    SELECT strpos(substr(key, length($1::text) + 1), $2::text) AS at, key, sha256, bytes, created_at FROM keys
    WHERE starts_with(key, $1) AND key > $3::text COLLATE "C"
)
SELECT entry, folder, min(sha256) AS sha256, min(bytes) AS bytes, min(created_at) AS created_at FROM (
    SELECT CASE WHEN $2 <> '' AND at > 0 THEN left(key, length($1) + at + length($2) - 1) ELSE key END COLLATE "C" AS entry,
           $2 <> '' AND at > 0 AS folder, sha256, bytes, created_at FROM entries) e
WHERE entry > $4::text COLLATE "C" GROUP BY entry, folder ORDER BY entry LIMIT $5;
