-- name: waiting
-- The oldest first. What a runner that died had begun is begun again: only one runs, and it knows what it is doing.
SELECT id::text FROM uploads WHERE state IN ('waiting', 'running') ORDER BY id;

-- name: begin
-- The attempt is numbered, so that what is written later counts only while nothing else was begun.
UPDATE uploads SET state = 'running', attempt = attempt + 1, bytes_done = 0, error = NULL
WHERE id = $1::uuid AND state IN ('waiting', 'running')
RETURNING id::text, person, file_name, step, mapping, attempt, load_id::text;

-- name: progress
-- Writes how far the attempt is, and returns whether it is still wanted.
UPDATE uploads SET bytes_done = $3 WHERE id = $1::uuid AND attempt = $2 RETURNING cancelled;

-- name: keep_mapping
-- The guessed mapping is shown even where the file cannot be loaded by it.
UPDATE uploads SET mapping = $3 WHERE id = $1::uuid AND attempt = $2;

-- name: finish
-- What came of the attempt.
UPDATE uploads SET state = $3, outcome = coalesce($4, outcome), error = $5, load_id = coalesce($6::uuid, load_id),
    cancelled = false
WHERE id = $1::uuid AND attempt = $2;

-- name: delete_old
-- Rows of files that are no longer kept.
DELETE FROM uploads WHERE at < statement_timestamp() - make_interval(days => $1);
