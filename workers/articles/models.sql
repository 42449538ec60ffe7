-- name: active
-- The newest choice that was not undone; its model is null where that is the shipped one.
SELECT e.terms ->> 'digest', m.model FROM events e LEFT JOIN match_models m ON m.digest = e.terms ->> 'digest'
WHERE e.kind = 'model' AND e.undone_at IS NULL ORDER BY e.no DESC LIMIT 1;

-- name: listed
-- Every model that was kept, the newest first.
SELECT digest, (trained_on ->> 'decisions')::integer, (bounds ->> 'link_learned')::double precision, created_at, created_by
FROM match_models ORDER BY created_at DESC, digest;

-- name: find
-- By the first characters of its digest.
SELECT digest FROM match_models WHERE starts_with(digest, $1) AND length($1) >= 6 LIMIT 2;

-- name: keep
-- The same model is trained again from the same decisions.
INSERT INTO match_models (digest, model, trained_on, bounds, created_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (digest) DO NOTHING;

-- name: of_iids
-- The items that a file of pairs names.
SELECT iid, id FROM items WHERE iid = ANY($1::text[]);

-- name: of_source_ids
-- Likewise by the ids of source $1.
SELECT t.source_item_id, t.item_id FROM item_sources t JOIN sources s ON s.id = t.source_id
WHERE s.name = $1 AND t.source_item_id = ANY($2::text[]);
