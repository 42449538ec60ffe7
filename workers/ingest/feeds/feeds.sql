-- name: register
-- A feed that is registered again under its name is replaced, and read anew: its mapping may have changed.
INSERT INTO feeds (name, url, directory, file_name, source, mapping, every_seconds) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (name) DO UPDATE SET url = EXCLUDED.url, directory = EXCLUDED.directory, file_name = EXCLUDED.file_name,
    source = EXCLUDED.source, mapping = EXCLUDED.mapping, every_seconds = EXCLUDED.every_seconds, paused = false,
    due_at = statement_timestamp(), etag = NULL, last_modified = NULL, sha256 = NULL, failures = 0, error = NULL,
    begun_by = NULL, deaths = 0;

-- name: listed
-- An address may hold a secret in its query: only what stands before it is shown.
SELECT name AS feed, source, coalesce(split_part(url, '?', 1), directory) AS place, every_seconds,
    CASE WHEN paused THEN 'paused' WHEN failures > 0 THEN 'failing' ELSE 'active' END AS state,
    failures, read_at AS read, loaded_at AS loaded, due_at AS due, error
FROM feeds ORDER BY name;

-- name: pause
-- What is resumed is due at once.
UPDATE feeds SET paused = $2, due_at = CASE WHEN $2 THEN due_at ELSE statement_timestamp() END WHERE name = $1;

-- name: remove
-- Its loads stay; `itemindex loads undo` takes them back.
DELETE FROM feeds WHERE name = $1;

-- name: lock
-- One process serves the feeds: a second one waits until the first has ended.
SELECT pg_try_advisory_lock(hashtext('itemindex-feeds'));

-- name: due
-- The longest overdue first. Those that are being served are left out by the caller.
SELECT id::text, name, url, directory, file_name, mapping, etag, last_modified, sha256, loaded_at::date::text, failures
FROM feeds WHERE NOT paused AND due_at <= statement_timestamp() ORDER BY due_at;

-- name: begin_load
-- Only a feed that is still to be read so: one that was paused, removed or registered again while it waited is not.
-- $2: this process, $3: the file. What another process has begun and noted no end of, it did not survive, unless
-- PostgreSQL was not there to note it. Another file is begun without the deaths of the one before.
UPDATE feeds SET begun_by = $2, begun_at = clock_timestamp(), begun_sha256 = $3,
    deaths = CASE WHEN begun_sha256 IS DISTINCT FROM $3 THEN 0 ELSE deaths END
        + coalesce(begun_sha256 = $3 AND begun_by <> $2 AND begun_at > pg_postmaster_start_time(), false)::integer
WHERE id = $1::uuid AND NOT paused AND mapping = $4 AND coalesce(url, directory) = $5
RETURNING deaths;

-- name: end_load
-- However the load ended, this process has survived it.
UPDATE feeds SET begun_by = NULL WHERE id = $1::uuid AND begun_by = $2;

-- name: served
-- A feed that was registered again meanwhile is to be read anew: the outcome of what was read before does not count for it.
-- A load is of the day on which its reading began, even if it ends on the next.
UPDATE feeds SET due_at = statement_timestamp() + make_interval(secs => every_seconds), etag = $2, last_modified = $3,
    sha256 = $4, failures = 0, error = NULL, deaths = 0, read_at = statement_timestamp(),
    loaded_at = CASE WHEN $5::uuid IS NULL THEN loaded_at ELSE $8 END
WHERE id = $1::uuid AND mapping = $6 AND coalesce(url, directory) = $7;

-- name: failed
-- The pause doubles with each failure in a row, from a minute to a day.
UPDATE feeds SET failures = failures + 1, error = $2, read_at = statement_timestamp(),
    due_at = statement_timestamp() + make_interval(secs => least(60 * 2.0 ^ least(failures, 20), 86400))
WHERE id = $1::uuid AND mapping = $3 AND coalesce(url, directory) = $4;

-- name: waiting_uploads
-- The oldest first. What a runner that died had begun is begun again: only one runs, and it knows what it is doing.
SELECT id::text FROM uploads WHERE state IN ('waiting', 'running') ORDER BY id;

-- name: cancel_waiting_uploads
-- What nobody works on is cancelled at once, however long what is before it takes.
UPDATE uploads SET state = 'cancelled', cancelled = false WHERE state = 'waiting' AND cancelled;

-- name: delete_old_uploads
-- Rows of files that are no longer kept.
DELETE FROM uploads WHERE at < statement_timestamp() - make_interval(days => $1);
