-- name: newest
-- The snapshot's own data_version, whatever the job was ordered for: a release names what it holds.
SELECT version FROM data_versions ORDER BY version DESC LIMIT 1;

-- name: try_lock
-- Builds and sweeps exclude each other: a sweep during a build would delete the files that the build is about to name. A key
-- of its own: events are numbered under 7166002, and a build takes up to an hour.
SELECT pg_try_advisory_lock(7166003);

-- name: unlock
-- The next build or sweep may begin.
SELECT pg_advisory_unlock(7166003);

-- name: built_before
-- A release is never built again: its manifest stays as it was published.
SELECT count(*) FROM releases WHERE data_version = $1;

-- name: kept_as
-- The first of a calendar week is the week's; those after it are of a day. The moment is part of what is signed.
SELECT CASE WHEN EXISTS (
    SELECT FROM releases WHERE kept_as = 'weekly' AND created_at >= date_trunc('week', statement_timestamp(), 'UTC'))
    THEN 'daily' ELSE 'weekly' END, statement_timestamp();

-- name: publish
-- Fenced by the job's attempt: a worker that lost its lease publishes nothing.
INSERT INTO releases (dataset, data_version, kept_as, columns, rows, bytes, created_at, expires_at, signature, profile)
SELECT $1, $2, $3, $4, $5, $6, $7::timestamptz, $7::timestamptz + make_interval(days => $8), $9, $10
FROM jobs WHERE id = $11 AND attempt = $12 AND state = 'running'
RETURNING dataset;

-- name: sources
-- Their terms as they are now: descriptions of this release keep them.
SELECT name, title, license, url, attribution FROM sources ORDER BY name COLLATE "C";

-- name: publish_schema_changes
-- What its columns differ in from those of the release before, which is always kept. Before the release itself is there.
INSERT INTO schema_changes (dataset, data_version, change, name, type, nullable)
SELECT $1::text, $2::bigint, CASE WHEN o.name IS NULL THEN 'added' WHEN n.name IS NULL THEN 'removed' ELSE 'changed' END,
       name, coalesce(n.type, o.type), coalesce(n.nullable, o.nullable)
FROM jsonb_to_recordset($3::jsonb) AS n (name text, type text, nullable boolean)
FULL JOIN jsonb_to_recordset((SELECT columns FROM releases WHERE dataset = $1 ORDER BY data_version DESC LIMIT 1))
    AS o (name text, type text, nullable boolean) USING (name)
WHERE o.name IS NULL OR n.name IS NULL OR (n.type, n.nullable) IS DISTINCT FROM (o.type, o.nullable);

-- name: previous
-- What is compared with the data_version $1: the newest release before it, of each dataset.
SELECT dataset, data_version, columns, (profile->>'since')::bigint, (SELECT min(data_version) FROM releases) FROM releases
WHERE data_version = (SELECT max(data_version) FROM releases WHERE data_version < $1);

-- name: previous_files
-- Its files, in their order.
SELECT dataset, name, sha256, rows, bytes, min_key, max_key, statistics FROM release_files
WHERE data_version = (SELECT max(data_version) FROM releases WHERE data_version < $1) ORDER BY dataset, place;

-- name: publish_key
-- Before the first release that it signs is shown, and for ever: mirrors of old releases are checked with it.
INSERT INTO release_keys (key_id, public_key) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: publish_file
-- In the transaction of its release: nothing is listed before it is complete.
INSERT INTO release_files (dataset, data_version, place, name, sha256, rows, bytes, min_key, max_key, statistics)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: due
-- The newest data_version, if it has no release, the last release is $1 hours old, and no job of this hour has tried it.
SELECT v.version FROM (SELECT max(version) AS version FROM data_versions) v
WHERE v.version IS NOT NULL
  AND NOT EXISTS (SELECT FROM releases r WHERE r.data_version = v.version
                  OR r.created_at > statement_timestamp() - make_interval(secs => $1 * 3600))
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.kind = 'release'
                  AND (j.state IN ('queued', 'running') OR j.created_at > statement_timestamp() - interval '1 hour'));

-- name: expire
-- The newest release stays whatever its age: there is always one to read.
DELETE FROM releases WHERE expires_at < statement_timestamp()
  AND data_version < (SELECT max(n.data_version) FROM releases n WHERE n.dataset = releases.dataset)
RETURNING dataset, data_version;

-- name: named
-- Which of these files some release still names.
SELECT DISTINCT sha256 FROM release_files WHERE sha256 = ANY($1::text[]);
