-- name: pairs
-- Pairs with their evidence and people's decisions, the most probable first. $1: waiting, linked, accepted or rejected;
-- null: all. $2: an item whose pairs alone are meant; $3: how many. $4: a source, of which one item is; $5, $6: the least score
-- and the one that pairs must be below; $7: a kind of link, or a field in which the records agree; $8: a brand of either item.
-- A decision that was not applied yet counts already.
-- Unless an item is given, a likeness that waits is left out while both of its items have a better one that was not rejected
-- with an item of the other's source.
WITH decided AS (
    SELECT DISTINCT ON (left_id, right_id) left_id, right_id, same, at FROM (
        SELECT least(e.item_id, e.survivor_id) AS left_id, greatest(e.item_id, e.survivor_id) AS right_id,
               e.kind = 'link' AS same, e.at, 0 AS later
        FROM events e WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL
        UNION ALL
        SELECT r.left_id, r.right_id, CASE r.decision WHEN 'accept' THEN true WHEN 'reject' THEN false END, r.at, 1
        FROM match_reviews r WHERE r.applied_at IS NULL) said
    ORDER BY left_id, right_id, later DESC, at DESC),
known AS (
    SELECT coalesce(l.left_id, d.left_id) AS left_id, coalesce(l.right_id, d.right_id) AS right_id, l.kind, l.score, l.evidence,
           CASE WHEN d.same THEN 'accepted' WHEN NOT d.same THEN 'rejected' WHEN l.decision = 'link' THEN 'linked'
                WHEN l.decision = 'review' THEN 'waiting' END AS state, d.at AS decided_at
    FROM links l FULL JOIN decided d USING (left_id, right_id))
SELECT found.* FROM (
    SELECT a.id AS left_id, b.id AS right_id, a.iid AS left_iid, b.iid AS right_iid, a.name AS left_name, b.name AS right_name, k.kind,
           k.score, k.evidence, k.state, k.decided_at, coalesce(x.owner_id, a.id) = coalesce(y.owner_id, b.id) AS together
    FROM known k JOIN items a ON a.id = k.left_id JOIN items b ON b.id = k.right_id
    LEFT JOIN inactive_items x ON x.item_id = a.id LEFT JOIN inactive_items y ON y.item_id = b.id
    WHERE k.state IS NOT NULL AND ($1::text IS NULL OR k.state = $1)
      AND ($2::text IS NULL OR a.iid = $2 OR b.iid = $2)
      AND (k.state <> 'waiting' OR coalesce(x.owner_id, a.id) <> coalesce(y.owner_id, b.id))
      AND ($4::text IS NULL OR EXISTS (
          SELECT FROM item_sources t JOIN sources s ON s.id = t.source_id WHERE t.item_id IN (a.id, b.id) AND s.name = $4))
      AND ($5::double precision IS NULL OR k.score >= $5) AND ($6::double precision IS NULL OR k.score < $6)
      AND ($7::text IS NULL OR k.kind = $7 OR jsonb_path_exists(
          k.evidence, '$[*] ? (@.field == $field && @.agrees == true)', jsonb_build_object('field', $7)))
      AND ($8::text IS NULL OR EXISTS (
          SELECT FROM item_contents c WHERE c.item_id IN (a.id, b.id) AND lower(c.brand_name) = lower($8)))
    -- OFFSET 0: the links of each pair's items are looked at after the sorting, of as many pairs as are wanted.
    ORDER BY k.score DESC NULLS LAST, left_id, right_id OFFSET 0) found
WHERE state <> 'waiting' OR kind <> 'likeness' OR $2 IS NOT NULL OR EXISTS (
    SELECT FROM (VALUES (left_id, right_id), (right_id, left_id)) one (id, other_id) WHERE NOT EXISTS (
        SELECT FROM links l JOIN item_sources s ON s.item_id = CASE l.left_id WHEN one.id THEN l.right_id ELSE l.left_id END
        JOIN item_sources o ON o.item_id = one.other_id AND o.source_id = s.source_id
        LEFT JOIN decided d ON d.left_id = l.left_id AND d.right_id = l.right_id
        WHERE (l.left_id = one.id OR l.right_id = one.id) AND l.score > found.score AND d.same IS DISTINCT FROM false))
ORDER BY score DESC NULLS LAST, left_id, right_id LIMIT $3;

-- name: waiting
-- What `pairs` returns of those that wait, of any item: for the dashboard, where one second must do. It goes through them from
-- the best on and looks at the decisions of each, until it has found enough. $1: how many; $2 to $6: as $4 to $8 there.
-- The last decision is tested as true or false, of which the planner expects half: of IS NULL it expects almost none, and sorts all.
SELECT a.id AS left_id, b.id AS right_id, a.iid AS left_iid, b.iid AS right_iid, a.name AS left_name, b.name AS right_name, l.kind,
       l.score, l.evidence, 'waiting' AS state, NULL::timestamptz AS decided_at, false AS together
FROM links l JOIN items a ON a.id = l.left_id JOIN items b ON b.id = l.right_id
LEFT JOIN inactive_items x ON x.item_id = a.id LEFT JOIN inactive_items y ON y.item_id = b.id
WHERE l.decision = 'review' AND coalesce(x.owner_id, a.id) <> coalesce(y.owner_id, b.id)
  AND coalesce((SELECT d.same IS NULL FROM (
          SELECT e.kind = 'link' AS same, e.at, 0 AS later FROM events e
          WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL AND e.item_id = l.left_id AND e.survivor_id = l.right_id
          UNION ALL
          SELECT e.kind = 'link', e.at, 0 FROM events e
          WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL AND e.item_id = l.right_id AND e.survivor_id = l.left_id
          UNION ALL
          SELECT CASE r.decision WHEN 'accept' THEN true WHEN 'reject' THEN false END, r.at, 1 FROM match_reviews r
          WHERE r.applied_at IS NULL AND r.left_id = l.left_id AND r.right_id = l.right_id
          ORDER BY later DESC, at DESC LIMIT 1) d), true)
  AND ($2::text IS NULL OR EXISTS (
      SELECT FROM item_sources t JOIN sources s ON s.id = t.source_id WHERE t.item_id IN (l.left_id, l.right_id) AND s.name = $2))
  AND ($3::double precision IS NULL OR l.score >= $3) AND ($4::double precision IS NULL OR l.score < $4)
  AND ($5::text IS NULL OR l.kind = $5 OR jsonb_path_exists(
      l.evidence, '$[*] ? (@.field == $field && @.agrees == true)', jsonb_build_object('field', $5)))
  AND ($6::text IS NULL OR EXISTS (
      SELECT FROM item_contents c WHERE c.item_id IN (l.left_id, l.right_id) AND lower(c.brand_name) = lower($6)))
  AND (l.kind <> 'likeness' OR EXISTS (
      SELECT FROM (VALUES (l.left_id, l.right_id), (l.right_id, l.left_id)) one (id, other_id) WHERE NOT EXISTS (
          SELECT FROM links m JOIN item_sources s ON s.item_id = CASE m.left_id WHEN one.id THEN m.right_id ELSE m.left_id END
          JOIN item_sources o ON o.item_id = one.other_id AND o.source_id = s.source_id
          LEFT JOIN LATERAL (
              SELECT e.kind = 'link' AS same, e.at, 0 AS later FROM events e
              WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL AND e.item_id = m.left_id AND e.survivor_id = m.right_id
              UNION ALL
              SELECT e.kind = 'link', e.at, 0 FROM events e
              WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL AND e.item_id = m.right_id AND e.survivor_id = m.left_id
              UNION ALL
              SELECT CASE r.decision WHEN 'accept' THEN true WHEN 'reject' THEN false END, r.at, 1 FROM match_reviews r
              WHERE r.applied_at IS NULL AND r.left_id = m.left_id AND r.right_id = m.right_id
              ORDER BY later DESC, at DESC LIMIT 1) d ON true
          WHERE (m.left_id = one.id OR m.right_id = one.id) AND m.score > l.score AND d.same IS DISTINCT FROM false)))
ORDER BY l.score DESC, l.left_id, l.right_id LIMIT $1;

-- name: sides
-- The sources' statements about the items of a pair, for two columns side by side; the newest of each item's own source.
SELECT DISTINCT ON (i.id) i.iid, s.name AS source, s.title AS source_title, t.source_item_id, k.name, k.brand_name AS brand,
       array_to_string(k.category_path, ' > ') AS category, k.identifiers, k.attributes
FROM items i JOIN item_claims c ON c.item_id = i.id JOIN item_contents k USING (item_id, content_hash)
JOIN sources s ON s.id = c.source_id JOIN item_sources t ON t.item_id = i.id AND t.source_id = s.id
WHERE i.iid = ANY($1::text[]) AND k.name IS NOT NULL
ORDER BY i.id, s.name, c.as_of DESC, c.no DESC;

-- name: stats
-- The number of pairs of each kind, and people's decisions on them: on those that waited, and on those that were linked.
SELECT (SELECT count(*) FROM links WHERE decision = 'link' AND kind = 'identifier') AS linked_by_identifier,
       (SELECT count(*) FROM links WHERE decision = 'link' AND kind = 'likeness') AS linked_by_likeness,
       (SELECT count(*) FROM links WHERE decision = 'review') AS found_for_review,
       count(*) FILTER (WHERE e.kind = 'link') AS accepted, count(*) FILTER (WHERE e.kind = 'separation') AS rejected,
       count(*) FILTER (WHERE e.kind = 'separation' AND l.decision = 'link') AS links_undone
FROM events e LEFT JOIN links l ON l.left_id = least(e.item_id, e.survivor_id) AND l.right_id = greatest(e.item_id, e.survivor_id)
WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL;

-- name: recent
-- The last decisions in the dashboard, the newest first, so that they can be taken back. A bulk decision is one of them.
SELECT r.decision, r.person, r.at, r.applied_at IS NOT NULL AS applied, a.iid AS left_iid, b.iid AS right_iid,
       a.name AS left_name, b.name AS right_name, r.batch_id::text AS batch,
       (SELECT count(*) FROM match_reviews o WHERE o.batch_id = r.batch_id AND o.decision <> 'undo') AS pairs
FROM match_reviews r JOIN items a ON a.id = r.left_id JOIN items b ON b.id = r.right_id
WHERE r.batch_id IS NULL OR NOT EXISTS (
    SELECT FROM match_reviews o WHERE o.batch_id = r.batch_id AND o.id > r.id AND o.decision = r.decision)
ORDER BY r.id DESC LIMIT $1;

-- name: sampled
-- How many pairs of a random sample were decided, and how many of these are one item; of each pair the last decision counts.
SELECT count(*) FILTER (WHERE decision <> 'undo') AS decided, count(*) FILTER (WHERE decision = 'accept') AS accepted
FROM (SELECT DISTINCT ON (left_id, right_id) decision FROM match_reviews WHERE sample_id = $1::uuid
      ORDER BY left_id, right_id, id DESC) last;

-- name: decide_all
-- One decision on many pairs. $1, $2: their items; $3: the decision; $4, $5: the person; $6, $7: the bulk decision and what it
-- chose its pairs by.
INSERT INTO match_reviews (left_id, right_id, decision, person_id, person, batch_id, batch)
SELECT n.left_id, n.right_id, $3, $4::uuid, $5, $6::uuid, $7::jsonb FROM unnest($1::bigint[], $2::bigint[]) AS n (left_id, right_id);

-- name: undo_all
-- A bulk decision is undone as a whole: one row of it says so.
INSERT INTO match_reviews (left_id, right_id, decision, person_id, person, batch_id)
SELECT r.left_id, r.right_id, 'undo', $2::uuid, $3, r.batch_id FROM match_reviews r
WHERE r.batch_id = $1::uuid AND r.decision <> 'undo' ORDER BY r.id LIMIT 1 RETURNING id;

-- name: decide
-- $1, $2: the two items; no row where they are not both there, or are one. $6: the random sample that they are of.
INSERT INTO match_reviews (left_id, right_id, decision, person_id, person, sample_id)
SELECT least(a.id, b.id), greatest(a.id, b.id), $3, $4::uuid, $5, $6::uuid FROM items a, items b WHERE a.iid = $1 AND b.iid = $2 AND a.id <> b.id
RETURNING id;
