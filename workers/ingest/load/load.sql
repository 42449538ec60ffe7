-- name: fail_stale
-- The lock is ours, so a load that still says `running` was killed; its transaction has left nothing.
UPDATE loads SET state = 'failed', error = 'killed before it ended; nothing of it was kept', finished_at = statement_timestamp()
WHERE state = 'running';

-- name: begin
-- Written by a connection of its own, so that a load that fails still states why.
INSERT INTO loads (source, mapping) VALUES ($1, $2) RETURNING id::text;

-- name: add_file
-- So that one can see later which file a load has read.
INSERT INTO load_files (load_id, name, bytes, sha256) VALUES ($1, $2, $3, $4)
ON CONFLICT (load_id, name) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256;

-- name: same_before
-- A load of source $1 that was read from the same: nothing would change, unless something has been undone or deleted since.
SELECT l.id::text FROM loads l
WHERE l.source = $1 AND l.inputs = $2 AND l.state = 'committed'
  AND NOT EXISTS (SELECT FROM loads n WHERE n.source = l.source AND n.state = 'committed' AND n.finished_at > l.finished_at)
  AND NOT EXISTS (SELECT FROM events e WHERE greatest(e.at, e.undone_at) > l.finished_at AND (e.undone_at IS NOT NULL OR e.kind = 'deletion'))
ORDER BY l.finished_at DESC LIMIT 1;

-- name: fail
-- The reason stays with the load. One that has committed says so itself, and is not failed by a connection that was lost afterwards.
UPDATE loads SET state = 'failed', error = $2, rows_read = $3, rows_rejected = $4, summary = $5, finished_at = statement_timestamp()
WHERE id = $1 AND state = 'running';

-- name: forget_tried
-- A load that is tried again with the same files and mapping has the same rejects again: those of tries that changed nothing
-- are deleted, or a file that is tried every minute would fill the disk with them.
DELETE FROM rejects r USING loads n, loads l
WHERE n.id = $1 AND l.source = n.source AND l.mapping = n.mapping AND l.id <> n.id AND l.state IN ('failed', 'unchanged')
  AND r.load_id = l.id AND (SELECT array_agg((f.name, f.sha256) ORDER BY f.name) FROM load_files f WHERE f.load_id = l.id)
    = (SELECT array_agg((f.name, f.sha256) ORDER BY f.name) FROM load_files f WHERE f.load_id = n.id);

-- name: finish
-- In the transaction of the merge: a load is committed exactly when its rows are.
UPDATE loads SET state = $2, rows_read = $3, rows_rejected = $4, summary = $5, inputs = $6, finished_at = statement_timestamp()
WHERE id = $1;

-- name: channel_spellings
-- Spellings that fold to the same text are one channel: the one with the least id, which comes last here.
SELECT code FROM channels ORDER BY id DESC;

-- name: owners
-- Which items have these IIDs, with the id that source $1 gives them, and which IIDs its items of these ids have.
SELECT (SELECT t.source_item_id FROM item_sources t JOIN sources s ON s.id = t.source_id
        WHERE t.item_id = i.id AND s.name = $1), i.iid
FROM items i WHERE i.iid = ANY($2::text[])
UNION
SELECT t.source_item_id, i.iid FROM item_sources t JOIN sources s ON s.id = t.source_id JOIN items i ON i.id = t.item_id
WHERE s.name = $1 AND t.source_item_id = ANY($3::text[]);
