-- name: held
-- The links that items have now.
SELECT left_id, right_id, kind, score, decision, evidence FROM links WHERE left_id = ANY($1::bigint[])
UNION
SELECT left_id, right_id, kind, score, decision, evidence FROM links WHERE right_id = ANY($1::bigint[]);

-- name: drop
-- $1, $2: pairs whose link does not hold any more.
DELETE FROM links l USING unnest($1::bigint[], $2::bigint[]) AS gone (left_id, right_id)
WHERE l.left_id = gone.left_id AND l.right_id = gone.right_id;

-- name: keep
-- A pair has one link: the newest evidence takes the place of the former.
INSERT INTO links (left_id, right_id, kind, score, decision, evidence)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::double precision[], $5::text[], $6::jsonb[])
ON CONFLICT (left_id, right_id) DO UPDATE SET kind = excluded.kind, score = excluded.score, decision = excluded.decision,
    evidence = excluded.evidence;

-- name: undeclare
-- What the items' source declared before.
DELETE FROM declared_articles WHERE item_id = ANY($1::bigint[]) RETURNING item_id, source_id, article;

-- name: declare
-- $1, $2, $3: items, their sources and articles.
INSERT INTO declared_articles (item_id, source_id, article)
SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::text[]);
