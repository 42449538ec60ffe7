-- name: begin
-- The attempt is numbered, so that what is written later counts only while nothing else was begun. $2: this process.
-- What another process has begun and noted no end of, it did not survive, unless PostgreSQL was not there to note it.
UPDATE uploads SET state = 'running', attempt = attempt + 1, bytes_done = 0, error = NULL, begun_by = $2,
    begun_at = clock_timestamp(),
    deaths = deaths + (state = 'running' AND begun_by IS NOT NULL AND begun_by <> $2
        AND begun_at > pg_postmaster_start_time())::integer
WHERE id = $1::uuid AND state IN ('waiting', 'running')
RETURNING id::text, person, file_name, step, mapping, attempt, load_id::text, old.state = 'running', deaths;

-- name: put_back
-- An outage, or the orderly end of the process: the next attempt begins anew, and nothing has died.
UPDATE uploads SET begun_by = NULL WHERE id = $1::uuid AND attempt = $2;

-- name: committed
-- The load of this upload by an attempt that committed it and could not note its end. $2: the mapping's digest.
SELECT l.id::text FROM loads l JOIN uploads u ON u.id = $1::uuid JOIN events e ON e.load_id = l.id
WHERE l.state = 'committed' AND l.mapping = $2 AND l.started_at > u.at AND e.undone_at IS NULL
  AND EXISTS (SELECT FROM load_files f WHERE f.load_id = l.id AND f.name = u.file_name)
ORDER BY l.started_at DESC LIMIT 1;

-- name: progress
-- Writes how far the attempt is, and returns whether it is still wanted.
UPDATE uploads SET bytes_done = $3 WHERE id = $1::uuid AND attempt = $2 RETURNING cancelled;

-- name: keep_mapping
-- The guessed mapping is shown with its doubts and the first rows even where the file cannot be loaded by it.
UPDATE uploads SET mapping = $3, doubts = $4, sample = $5 WHERE id = $1::uuid AND attempt = $2;

-- name: finish
-- What came of the attempt.
UPDATE uploads SET state = $3, outcome = coalesce($4, outcome), error = $5, load_id = coalesce($6::uuid, load_id),
    cancelled = false, begun_by = NULL, deaths = 0
WHERE id = $1::uuid AND attempt = $2;
