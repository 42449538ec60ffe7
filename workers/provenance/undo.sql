-- name: find
-- By the number, or by the id of the load.
SELECT no, kind, load_id::text, undone_at, source_id FROM events
WHERE no = $1::integer OR load_id = $2::uuid;

-- name: mark_undone
-- Kept for ever: who undid what, when and why. The parts of a bulk decision go with it.
UPDATE events SET undone_at = statement_timestamp(), undone_by = $2, undone_reason = $3
WHERE (no = $1 OR part_of = $1) AND undone_at IS NULL;

-- name: mark_load
-- So that loading the same files again is a load like any other.
UPDATE loads SET state = 'undone' WHERE id = $1::uuid;

-- name: seeds
-- All that the event says anything of.
SELECT item_id FROM item_claims WHERE no = $1
UNION SELECT item_id FROM item_changes WHERE no = $1
UNION SELECT item_id FROM observation_claims WHERE load_no = $1
UNION SELECT item_id FROM observations WHERE load_no = $1
UNION SELECT unnest(ARRAY[item_id, survivor_id]) FROM events
WHERE (no = $1 OR part_of = $1) AND item_id IS NOT NULL AND survivor_id IS NOT NULL
UNION SELECT item_id FROM events WHERE no = $1 AND item_id IS NOT NULL
UNION SELECT t.item_id FROM item_sources t WHERE t.source_id = $2 AND (
    EXISTS (SELECT FROM item_sources o WHERE o.item_id = t.item_id AND o.source_id <> $2)
    OR EXISTS (SELECT FROM inactive_items x WHERE x.item_id = t.item_id)
    OR EXISTS (SELECT FROM inactive_items x WHERE x.owner_id = t.item_id));

-- name: held
-- The observations that hold because this event said so.
CREATE TEMP TABLE held ON COMMIT DROP AS
WITH gone AS (DELETE FROM observations WHERE load_no = $1 RETURNING item_id, day, mark, channel_id)
SELECT item_id, day, mark, channel_id FROM gone;

-- name: claimed_before
-- Those that it had said and that hold, or do not, for another event's sake.
CREATE TEMP TABLE claimed_before ON COMMIT DROP AS
WITH gone AS (DELETE FROM observation_claims WHERE load_no = $1 RETURNING item_id, day, mark, channel_id)
SELECT item_id, day, mark, channel_id FROM gone;

-- name: changed_observations
-- The claim of the highest number holds instead, unless it says that there is no such observation.
CREATE TEMP TABLE changed_observations ON COMMIT DROP AS
WITH keys AS (SELECT item_id, day, mark FROM held UNION SELECT item_id, day, mark FROM claimed_before),
newest AS (
    SELECT DISTINCT ON (c.item_id, c.day, c.mark) c.item_id, c.day, c.mark, c.load_no, c.price_minor
    FROM keys k JOIN observation_claims c USING (item_id, day, mark)
    WHERE NOT EXISTS (SELECT FROM observations o WHERE o.item_id = k.item_id AND o.day = k.day AND o.mark = k.mark)
    ORDER BY c.item_id, c.day, c.mark, c.load_no DESC),
moved AS (
    DELETE FROM observation_claims c USING newest n
    WHERE n.price_minor IS NOT NULL AND c.item_id = n.item_id AND c.day = n.day AND c.mark = n.mark AND c.load_no = n.load_no
    RETURNING c.item_id, c.mark, c.price_minor, c.list_minor, c.day, c.channel_id, c.units, c.source_id, c.kind, c.currency, c.load_no),
back AS (
    INSERT INTO observations (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no)
    SELECT item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no FROM moved
    RETURNING item_id, day, mark)
SELECT item_id, day, mark FROM held UNION SELECT item_id, day, mark FROM back;

-- name: tombstones
-- A deletion without the claims before it had nothing to delete.
DELETE FROM observation_claims t USING (
    SELECT item_id, day, mark FROM held UNION SELECT item_id, day, mark FROM claimed_before) k
WHERE t.item_id = k.item_id AND t.day = k.day AND t.mark = k.mark AND t.price_minor IS NULL
  AND NOT EXISTS (SELECT FROM observation_claims c WHERE c.item_id = t.item_id AND c.day = t.day AND c.mark = t.mark
                  AND c.price_minor IS NOT NULL AND c.load_no < t.load_no);

-- name: claims
-- Its statements about items, with the labels that it may have been the first to use.
CREATE TEMP TABLE unclaimed ON COMMIT DROP AS
WITH gone AS (DELETE FROM item_claims WHERE no = $1 RETURNING item_id, content_hash)
SELECT g.item_id, g.content_hash, k.brand_slug, k.category_code, k.category_path
FROM gone g JOIN item_contents k USING (item_id, content_hash);

-- name: contents
-- Contents that no claim refers to any more.
DELETE FROM item_contents k USING unclaimed u
WHERE k.item_id = u.item_id AND k.content_hash = u.content_hash AND NOT EXISTS (
    SELECT FROM item_claims c WHERE c.item_id = u.item_id AND c.content_hash = u.content_hash);

-- name: item_sources
-- The last statement of each source about the items; a source without one any more is removed.
WITH gone AS (
    DELETE FROM item_sources t USING (SELECT DISTINCT item_id FROM unclaimed) u WHERE t.item_id = u.item_id AND NOT EXISTS (
        SELECT FROM item_claims c WHERE c.item_id = t.item_id AND c.source_id = t.source_id))
UPDATE item_sources t SET source_item_id = n.source_item_id, content_hash = n.content_hash, observed_at = n.as_of,
    first_day = n.first_day
FROM (SELECT DISTINCT ON (c.item_id, c.source_id) c.item_id, c.source_id, c.source_item_id, c.content_hash,
             max(c.as_of) OVER w AS as_of, min(c.first_day) OVER w AS first_day
      FROM item_claims c JOIN (SELECT DISTINCT item_id FROM unclaimed) u USING (item_id)
      WINDOW w AS (PARTITION BY c.item_id, c.source_id)
      ORDER BY c.item_id, c.source_id, c.no DESC) n
WHERE t.item_id = n.item_id AND t.source_id = n.source_id;

-- name: vanished
-- Items that no event brings any more.
CREATE TEMP TABLE vanished ON COMMIT DROP AS
SELECT DISTINCT u.item_id, i.iid FROM unclaimed u JOIN items i ON i.id = u.item_id
WHERE NOT EXISTS (SELECT FROM item_claims c WHERE c.item_id = u.item_id);

-- name: vanish_impacts
-- Rows that refer to them are deleted first.
DELETE FROM impacts p USING vanished v WHERE p.item_id = v.item_id;

-- name: vanish_stages
-- Also what stages of the life cycle contribute to them.
DELETE FROM impact_stages p USING vanished v WHERE p.item_id = v.item_id;

-- name: vanish_changes
-- Also what other events changed in them.
DELETE FROM item_changes c USING vanished v WHERE c.item_id = v.item_id;

-- name: vanish_items
-- As if they had never been.
DELETE FROM items i USING vanished v WHERE i.id = v.item_id;

-- name: removed
-- Exports of changes say that they are gone. $1: since which data_version.
INSERT INTO removed_items (iid, item_id, data_version) SELECT iid, item_id, $1::bigint FROM vanished
ON CONFLICT (iid) DO UPDATE SET data_version = excluded.data_version;

-- name: forget_changes
-- Which of the remaining loads changed the items is found anew: one that repeated the undone one is now the first to say it.
DELETE FROM item_changes c USING seeds s, events e
WHERE c.item_id = s.item_id AND e.no = c.no AND (c.no = $1 OR (c.no > 0 AND e.kind IN ('load', 'deletion')));

-- name: find_changes
-- A claim changed its item where the claim before it, of the same source or of the same observation, says otherwise.
WITH of_items AS (
    SELECT c.item_id, c.no, c.content_hash IS DISTINCT FROM lag(c.content_hash) OVER w
           OR c.first_day < min(c.first_day) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS changes
    FROM item_claims c JOIN seeds USING (item_id) WINDOW w AS (PARTITION BY c.item_id, c.source_id ORDER BY c.no)),
every AS (
    SELECT o.item_id, o.day, o.mark, o.load_no, (o.price_minor, o.list_minor, o.units, o.currency)::text AS says
    FROM observations o JOIN seeds USING (item_id)
    UNION ALL SELECT c.item_id, c.day, c.mark, c.load_no, (c.price_minor, c.list_minor, c.units, c.currency)::text
    FROM observation_claims c JOIN seeds USING (item_id)),
of_observations AS (
    SELECT item_id, load_no, says IS DISTINCT FROM lag(says) OVER (PARTITION BY item_id, day, mark ORDER BY load_no) AS changes
    FROM every)
INSERT INTO item_changes (item_id, no, at)
SELECT f.item_id, f.no, e.at FROM (
    SELECT item_id, no FROM of_items WHERE changes UNION SELECT item_id, load_no FROM of_observations WHERE changes) f
JOIN events e ON e.no = f.no WHERE f.no > 0;

-- name: terms
-- Those of the source's newest load that was not undone.
UPDATE sources s SET title = e.terms ->> 'title', license = e.terms ->> 'license', url = e.terms ->> 'url',
    attribution = e.terms ->> 'attribution', rank = (e.terms ->> 'rank')::smallint,
    matching = coalesce(e.terms -> 'matching', '{}')
FROM (SELECT terms FROM events WHERE source_id = $1 AND undone_at IS NULL AND terms IS NOT NULL ORDER BY no DESC LIMIT 1) e
WHERE s.id = $1;

-- name: other_terms
-- Whether the source's load before this one gave it another rank, or other rules of matching.
SELECT s.rank IS DISTINCT FROM (e.terms ->> 'rank')::smallint, s.matching <> coalesce(e.terms -> 'matching', '{}')
FROM sources s, LATERAL (SELECT terms FROM events WHERE source_id = s.id AND undone_at IS NULL AND terms IS NOT NULL AND no <> $2
                         ORDER BY no DESC LIMIT 1) e
WHERE s.id = $1;

-- name: factor_scopes
-- Which kinds of factors it brought.
WITH gone AS (DELETE FROM factor_claims WHERE no = $1 RETURNING scope) SELECT DISTINCT scope FROM gone;

-- name: brand_names
-- The first spelling stays; the first that is left. No index serves the contents of a brand, so they are read once for all.
SELECT b.id, b.name, f.brand_name FROM brands b JOIN (
    SELECT DISTINCT ON (brand_slug) brand_slug, brand_name FROM (
        SELECT k.brand_slug, k.brand_name, min(c.no) AS no FROM item_contents k JOIN item_claims c USING (item_id, content_hash)
        WHERE k.brand_slug = ANY($1::text[]) GROUP BY 1, 2) spelled
    ORDER BY brand_slug, no, brand_name) f ON f.brand_slug = b.slug
WHERE b.name <> f.brand_name;

-- name: rename_brand
-- $3: the name folded, by which brands are listed.
UPDATE brands SET name = $2, folded_name = $3 WHERE id = $1;

-- name: category_paths
-- Likewise of categories, each with those above it. `below`: what is at or below each of them.
WITH named AS (
    SELECT DISTINCT array_to_string((string_to_array(u.category_code, '.'))[1:n], '.') AS code, n
    FROM unclaimed u, generate_series(1, cardinality(u.category_path)) AS n WHERE u.category_code IS NOT NULL),
below AS (
    SELECT d.code, d.n, g.code AS category_code
    FROM categories g, generate_series(1, cardinality(g.path)) AS level, named d
    WHERE d.code = array_to_string((string_to_array(g.code, '.'))[1:level], '.')),
spelled AS (
    SELECT k.category_code, k.category_path, min(c.no) AS no FROM item_contents k JOIN item_claims c USING (item_id, content_hash)
    WHERE k.category_code IN (SELECT category_code FROM below) GROUP BY 1, 2)
UPDATE categories g SET path = f.path FROM (
    SELECT DISTINCT ON (b.code) b.code, s.category_path[1:b.n] AS path
    FROM below b JOIN spelled s USING (category_code) ORDER BY b.code, s.no, 2) f
WHERE g.code = f.code AND g.path <> f.path;

-- name: drop_brands
-- Labels that nothing refers to any more.
DELETE FROM brands b WHERE b.slug IN (SELECT brand_slug FROM unclaimed)
AND NOT EXISTS (SELECT FROM item_contents k WHERE k.brand_slug = b.slug)
AND NOT EXISTS (SELECT FROM items i WHERE i.brand_id = b.id);

-- name: category_tree
-- Counted at the commit too, but its rows name the categories that go now.
SELECT refresh_category_tree();

-- name: drop_categories
-- Of the undone event's categories and those above them.
WITH kept AS (
    SELECT DISTINCT array_to_string((string_to_array(k.category_code, '.'))[1:n], '.') AS code
    FROM (SELECT DISTINCT category_code, cardinality(category_path) AS levels FROM item_contents WHERE category_code IS NOT NULL) k,
         generate_series(1, k.levels) AS n)
DELETE FROM categories g
WHERE g.code IN (SELECT array_to_string((string_to_array(u.category_code, '.'))[1:n], '.')
                 FROM unclaimed u, generate_series(1, cardinality(u.category_path)) AS n)
  AND NOT EXISTS (SELECT FROM kept WHERE kept.code = g.code)
  AND NOT EXISTS (SELECT FROM items i WHERE i.category_id = g.id);

-- name: drop_channels
-- Of the undone event's channels.
DELETE FROM channels h WHERE h.id IN (SELECT channel_id FROM held UNION SELECT channel_id FROM claimed_before)
AND NOT EXISTS (SELECT FROM observations o WHERE o.channel_id = h.id)
AND NOT EXISTS (SELECT FROM observation_claims o WHERE o.channel_id = h.id);

-- name: extent
-- The effects of undoing: observations that hold by the event, other claims of it, items, factors, rates.
SELECT (SELECT count(*) FROM observations WHERE load_no = $1) AS observations,
       (SELECT count(*) FROM observation_claims WHERE load_no = $1) AS other_claims,
       (SELECT count(*) FROM item_claims WHERE no = $1) AS items,
       (SELECT count(*) FROM item_claims c WHERE c.no = $1 AND NOT EXISTS (
            SELECT FROM item_claims o WHERE o.item_id = c.item_id AND o.no <> $1)) AS items_vanishing,
       (SELECT count(*) FROM factor_claims WHERE no = $1) AS factors, (SELECT count(*) FROM exchange_rates WHERE no = $1) AS rates;

-- name: loaded_later
-- Whether a load, or another model, may have judged this event's items after it.
SELECT 1 FROM events WHERE no > $1 AND kind IN ('load', 'model') AND undone_at IS NULL LIMIT 1;
