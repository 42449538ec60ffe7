-- name: add
-- A file of the person's, which waits to be guessed and previewed.
INSERT INTO uploads (id, person_id, person, file_name, bytes) VALUES ($1, $2, $3, $4, $5);

-- name: listed
-- The person's own, the newest first.
SELECT id, file_name, bytes, at, state FROM uploads ORDER BY id DESC LIMIT $1;

-- name: one
-- With all that its page shows; row-level security leaves out those of others.
SELECT id, file_name, bytes, bytes_done, at, step, state, cancelled, mapping, doubts, sample, outcome, error, load_id
FROM uploads WHERE id = $1;

-- name: preview
-- A changed mapping is previewed anew. What is running must end first.
UPDATE uploads SET step = 'preview', state = 'waiting', cancelled = false, mapping = $2, doubts = $3
WHERE id = $1 AND state IN ('previewed', 'refused', 'cancelled') RETURNING id;

-- name: load
-- Only what was previewed by this very mapping is loaded.
UPDATE uploads SET step = 'load', state = 'waiting', cancelled = false
WHERE id = $1 AND state = 'previewed' AND mapping = $2 RETURNING id;

-- name: undo
-- The load is taken back by the process that may.
UPDATE uploads SET step = 'undo', state = 'waiting', cancelled = false WHERE id = $1 AND state = 'loaded' RETURNING id;

-- name: cancel
-- What runs looks at this about once a second.
UPDATE uploads SET cancelled = true WHERE id = $1 AND step <> 'undo' AND state IN ('waiting', 'running') RETURNING id;

-- name: feeds
-- Every feed with its last reading, for the list below the files.
SELECT name, source, every_seconds, paused, due_at, failures, error, read_at, loaded_at FROM feeds ORDER BY name;
