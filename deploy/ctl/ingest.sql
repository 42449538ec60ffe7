-- name: load
-- The load of this id, or the last one where none is named; with how many rejects it had, and how many are kept.
SELECT l.id::text, l.source, l.state, l.started_at,
       l.rows_rejected + coalesce((l.summary ->> 'fields_rejected')::bigint, 0), (SELECT count(*) FROM rejects r WHERE r.load_id = l.id)
FROM loads l WHERE l.id::text = $1::text OR $1::text IS NULL ORDER BY l.started_at DESC LIMIT 1;

-- name: rejects
-- What a load could not use, in the order of its files.
SELECT file, line, column_name, value, reason, scope, raw FROM rejects WHERE load_id::text = $1
ORDER BY file, line, column_name LIMIT $2;
