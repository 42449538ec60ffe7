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
-- A pair has one link: the newest evidence takes the place of the former. $1: the links as one list in JSON, which costs the
-- caller far less than evidence as an array.
INSERT INTO links (left_id, right_id, kind, score, decision, evidence, no)
SELECT n.*, $2 FROM json_to_recordset($1::json) AS n (
    left_id bigint, right_id bigint, kind text, score double precision, decision text, evidence jsonb)
ON CONFLICT (left_id, right_id) DO UPDATE SET kind = excluded.kind, score = excluded.score, decision = excluded.decision,
    evidence = excluded.evidence, no = excluded.no;

-- name: keep_replaced
-- The former links of pairs, before event $1: none where it found their link first. Links of items that the event brings go with
-- these when it is undone.
INSERT INTO replaced_links (no, left_id, right_id, kind, score, decision, evidence, link_no)
SELECT $1, n.left_id, n.right_id, l.kind, l.score, l.decision, l.evidence, l.no
FROM unnest($2::bigint[], $3::bigint[]) AS n (left_id, right_id) LEFT JOIN links l USING (left_id, right_id)
WHERE l.no IS NOT NULL OR NOT EXISTS (
    SELECT FROM item_claims c WHERE c.item_id IN (n.left_id, n.right_id) GROUP BY c.item_id HAVING min(c.no) >= $1)
ON CONFLICT (no, left_id, right_id) DO NOTHING;

-- name: restored_pairs
-- The pairs whose link event $1 replaced.
SELECT left_id, right_id FROM replaced_links WHERE no = $1;

-- name: skip_replaced
-- Where a later event replaced a link of event $1, it would have replaced, without that event, the link before both.
UPDATE replaced_links n SET kind = r.kind, score = r.score, decision = r.decision, evidence = r.evidence, link_no = r.link_no
FROM replaced_links r
WHERE r.no = $1 AND n.left_id = r.left_id AND n.right_id = r.right_id AND n.no = (
    SELECT min(o.no) FROM replaced_links o WHERE o.left_id = r.left_id AND o.right_id = r.right_id AND o.no > $1);

-- name: clear_restored
-- Pairs that no later event replaced get back what they had.
DELETE FROM links l USING replaced_links r
WHERE r.no = $1 AND l.left_id = r.left_id AND l.right_id = r.right_id AND NOT EXISTS (
    SELECT FROM replaced_links o WHERE o.left_id = r.left_id AND o.right_id = r.right_id AND o.no > $1);

-- name: put_restored
-- Only between items that exist.
INSERT INTO links (left_id, right_id, kind, score, decision, evidence, no)
SELECT r.left_id, r.right_id, r.kind, r.score, r.decision, r.evidence, r.link_no FROM replaced_links r
JOIN items a ON a.id = r.left_id JOIN items b ON b.id = r.right_id
WHERE r.no = $1 AND r.kind IS NOT NULL AND NOT EXISTS (
    SELECT FROM replaced_links o WHERE o.left_id = r.left_id AND o.right_id = r.right_id AND o.no > $1);

-- name: forget_replaced
-- They are given back.
DELETE FROM replaced_links WHERE no = $1;

-- name: drop_of_items
-- Links of items that no event brings any more.
DELETE FROM links WHERE left_id = ANY($1::bigint[]) OR right_id = ANY($1::bigint[]) RETURNING left_id, right_id;

-- name: undeclare
-- The former declaration of the items' source.
DELETE FROM declared_articles WHERE item_id = ANY($1::bigint[]) RETURNING item_id, source_id, article;

-- name: declare
-- $1, $2, $3: items, their sources and articles.
INSERT INTO declared_articles (item_id, source_id, article)
SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::text[]);
