-- name: list
-- Every event in the order of its number, the newest first: loads, deletions of observations, merges, withdrawals.
SELECT e.no, e.kind, coalesce(l.source, '') AS source, i.iid, s.iid AS survivor,
       CASE WHEN e.undone_at IS NOT NULL THEN 'undone' ELSE coalesce(l.state, 'committed') END AS state,
       l.rows_read, l.rows_rejected,
       coalesce((l.summary ->> 'fields_rejected')::bigint, 0) AS fields_rejected, e.at, e.actor, e.reason, e.load_id::text AS load
FROM events e LEFT JOIN loads l ON l.id = e.load_id LEFT JOIN items i ON i.id = e.item_id LEFT JOIN items s ON s.id = e.survivor_id
WHERE e.no > 0 ORDER BY e.no DESC LIMIT $1;

-- name: show
-- One event with all that is kept of it, by its number or by the id of its load.
SELECT e.no, e.kind, coalesce(l.source, '') AS source, i.iid, s.iid AS survivor,
       CASE WHEN e.undone_at IS NOT NULL THEN 'undone' ELSE coalesce(l.state, 'committed') END AS state,
       e.at, e.actor, e.reason, e.undone_at, e.undone_by, e.undone_reason, e.load_id::text AS load, l.rows_read, l.rows_rejected,
       coalesce((l.summary ->> 'fields_rejected')::bigint, 0) AS fields_rejected, l.summary, (SELECT jsonb_object_agg(f.name, encode(f.sha256, 'hex')) FROM load_files f WHERE f.load_id = e.load_id) AS files
FROM events e LEFT JOIN loads l ON l.id = e.load_id LEFT JOIN items i ON i.id = e.item_id LEFT JOIN items s ON s.id = e.survivor_id
WHERE e.no > 0 AND (e.no::text = $1 OR e.load_id::text = $1);
