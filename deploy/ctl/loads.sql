-- name: list
-- Every event, the newest first: loads, deletions of observations, merges, withdrawals; and loads that failed or changed
-- nothing, which have no number because there is nothing to undo. The parts of a bulk decision are not listed.
SELECT e.no, coalesce(e.kind, 'load') AS kind, coalesce(l.source, '') AS source, i.iid, s.iid AS survivor,
       CASE WHEN e.undone_at IS NOT NULL THEN 'undone' ELSE coalesce(l.state, 'committed') END AS state,
       l.rows_read, l.rows_rejected,
       coalesce((l.summary ->> 'fields_rejected')::bigint, 0) AS fields_rejected, coalesce(e.at, l.started_at) AS at, e.actor,
       coalesce(e.reason, l.error) AS reason, l.id::text AS load
FROM events e FULL JOIN loads l ON l.id = e.load_id
LEFT JOIN items i ON i.id = e.item_id LEFT JOIN items s ON s.id = e.survivor_id
WHERE (e.no > 0 AND e.part_of IS NULL) OR e.no IS NULL ORDER BY coalesce(e.at, l.started_at) DESC, e.no DESC LIMIT $1;

-- name: show
-- One event with all that is kept of it, by its number or by the id of its load.
SELECT e.no, e.kind, coalesce(l.source, '') AS source, i.iid, s.iid AS survivor,
       CASE WHEN e.undone_at IS NOT NULL THEN 'undone' ELSE coalesce(l.state, 'committed') END AS state,
       e.at, e.actor, e.reason, e.undone_at, e.undone_by, e.undone_reason, e.load_id::text AS load, l.rows_read, l.rows_rejected,
       coalesce((l.summary ->> 'fields_rejected')::bigint, 0) AS fields_rejected, l.summary, (SELECT jsonb_object_agg(f.name, encode(f.sha256, 'hex')) FROM load_files f WHERE f.load_id = e.load_id) AS files
FROM events e LEFT JOIN loads l ON l.id = e.load_id LEFT JOIN items i ON i.id = e.item_id LEFT JOIN items s ON s.id = e.survivor_id
WHERE e.no > 0 AND (e.no::text = $1 OR e.load_id::text = $1);

-- name: load
-- The load of this id or number, or the last one where none is named; with how many rejects it had, and how many are kept.
SELECT l.id::text AS load, l.source, l.state, l.started_at,
       l.rows_rejected + coalesce((l.summary ->> 'fields_rejected')::bigint, 0) AS rejected,
       (SELECT count(*) FROM rejects r WHERE r.load_id = l.id) AS kept
FROM loads l
WHERE l.id::text = $1::text OR l.id = (SELECT e.load_id FROM events e WHERE e.no > 0 AND e.no::text = $1) OR $1::text IS NULL
ORDER BY l.started_at DESC LIMIT 1;

-- name: rejects
-- What a load could not use, in the order of its files.
SELECT file, line, column_name AS column, value, reason, scope AS costs, raw AS row FROM rejects WHERE load_id::text = $1
ORDER BY file, line, column_name LIMIT $2;
