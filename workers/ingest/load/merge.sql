-- name: newest_staged
-- An item may be staged once per batch; its last row is what the source says now. Its figures are part of its content: a
-- load that brings other ones says something new. Rows of one stage of the life cycle are parts of it, and added up.
CREATE TEMP TABLE new_items ON COMMIT DROP AS
WITH figures AS (
    SELECT id, jsonb_agg(jsonb_strip_nulls(to_jsonb(f) - 'id') ORDER BY indicator, stage NULLS FIRST) AS impacts
    FROM (SELECT * FROM (
              SELECT DISTINCT ON (id, indicator) id, indicator, per_unit, basis, method, stage, low, high, deviation, pedigree,
                     reference_year FROM stage_impacts
              WHERE stage IS NULL ORDER BY id, indicator, ctid DESC) totals
          WHERE per_unit IS NOT NULL
          UNION ALL
          SELECT id, indicator, sum(per_unit), min(basis), min(method), stage, NULL, NULL, NULL, NULL, NULL FROM stage_impacts
          WHERE stage IS NOT NULL GROUP BY id, indicator, stage) f
    GROUP BY id)
SELECT DISTINCT ON (s.id) s.id, s.iid, s.source_item_id, s.name, s.alt_names, s.brand_slug, s.brand_name, s.brand_folded,
       s.category_code, s.category_path, s.product_type, s.identifiers, s.attributes, coalesce(f.impacts, '[]') AS impacts,
       CASE WHEN f.id IS NULL THEN s.content_hash ELSE hashtextextended(f.impacts::text, s.content_hash) END AS content_hash,
       p.first_day AS min_day, p.last_day AS max_day
FROM stage_items s JOIN stage_spans p USING (id) LEFT JOIN figures f USING (id) ORDER BY s.id, s.ctid DESC;

-- name: analyze_staged
-- Temporary tables are unknown to the planner; without figures it would join a million rows by nested loops.
-- Only what is joined by: the long columns took most of the time.
ANALYZE new_items (id, brand_slug, category_code);

-- name: collisions
-- Two IIDs with one key (hash neighbours), or an item of another source under the IID that this source's own would get.
-- They are refused by name instead of merged in silence.
SELECT n.iid, i.iid, n.source_item_id FROM new_items n JOIN items i ON i.id = n.id
WHERE i.iid <> n.iid
   OR (EXISTS (SELECT FROM item_sources t WHERE t.item_id = n.id)
       AND NOT EXISTS (SELECT FROM item_sources t WHERE t.item_id = n.id AND t.source_id = $1 AND t.source_item_id = n.source_item_id))
LIMIT 1;

-- name: brands
-- The first spelling of a name stays: later ones that fold to the same slug are the same brand. Under the lock of events;
-- ON CONFLICT would draw a number for each brand that is known, in each load.
INSERT INTO brands (slug, name, folded_name)
SELECT DISTINCT ON (n.brand_slug) n.brand_slug, n.brand_name, n.brand_folded FROM new_items n
WHERE n.brand_slug IS NOT NULL AND NOT EXISTS (SELECT FROM brands b WHERE b.slug = n.brand_slug)
ORDER BY n.brand_slug, n.brand_name;

-- name: categories
-- Every ancestor gets a row too, so that each level has a code of its own. Known ones draw no number, as with brands.
INSERT INTO categories (code, path)
SELECT DISTINCT ON (code) code, path FROM (
    SELECT array_to_string((string_to_array(category_code, '.'))[1:n], '.') AS code, category_path[1:n] AS path
    FROM (SELECT DISTINCT category_code, category_path FROM new_items WHERE category_code IS NOT NULL) d,
         generate_series(1, cardinality(d.category_path)) AS n) levels
WHERE NOT EXISTS (SELECT FROM categories c WHERE c.code = levels.code) ORDER BY code, path;

-- name: resolved
-- What will be new, changed, or the same; decided once, used by all that follows.
CREATE TEMP TABLE merged ON COMMIT DROP AS
SELECT n.id, b.id AS brand_id, c.id AS category_id, i.id IS NULL AS is_new,
       i.id IS NOT NULL AND (t.content_hash IS DISTINCT FROM n.content_hash OR n.min_day < t.first_day) AS is_changed
FROM new_items n
LEFT JOIN items i ON i.id = n.id
LEFT JOIN item_sources t ON t.item_id = n.id AND t.source_id = $1
LEFT JOIN brands b ON b.slug = n.brand_slug
LEFT JOIN categories c ON c.code = n.category_code;

-- name: analyze_resolved
-- The planner knows nothing of this temporary table either.
ANALYZE merged;

-- name: seeds
-- The items that the load speaks of. $1: its source, where its rank has changed: then also the items that others speak of
-- too, because their fields may be taken from another source now.
SELECT id FROM stage_spans
UNION SELECT t.item_id FROM item_sources t WHERE t.source_id = $1 AND (
    EXISTS (SELECT FROM item_sources o WHERE o.item_id = t.item_id AND o.source_id <> $1)
    OR EXISTS (SELECT FROM inactive_items x WHERE x.item_id = t.item_id)
    OR EXISTS (SELECT FROM inactive_items x WHERE x.owner_id = t.item_id));

-- name: contents
-- What an item's source says of it is kept once, however many loads repeat it.
INSERT INTO item_contents (item_id, content_hash, name, alt_names, brand_slug, brand_name, category_code, category_path,
                           product_type, identifiers, attributes, impacts)
SELECT n.id, n.content_hash, n.name, n.alt_names, n.brand_slug, n.brand_name, n.category_code, n.category_path,
       n.product_type, n.identifiers, n.attributes, n.impacts
FROM new_items n JOIN merged m USING (id) WHERE m.is_new = $1 ON CONFLICT (item_id, content_hash) DO NOTHING;

-- name: claims
-- Also where it says nothing new: when the load that said it first is undone, this one still says it.
INSERT INTO item_claims (item_id, source_id, no, source_item_id, content_hash, first_day, as_of)
SELECT n.id, $2, $3, n.source_item_id, n.content_hash, n.min_day, n.max_day
FROM new_items n JOIN merged m USING (id) WHERE m.is_new = $1;

-- name: regrouped
-- Items whose article has other items now. $1: those with another owner; the former and the new owner show others, too.
CREATE TEMP TABLE regrouped (item_id bigint PRIMARY KEY) ON COMMIT DROP;

-- name: regroup
-- `affected` has all of them, with their owners before the load.
INSERT INTO regrouped
SELECT DISTINCT one.id FROM affected a LEFT JOIN inactive_items x USING (item_id),
    unnest(ARRAY[a.item_id, nullif(a.old_owner, -1), x.owner_id]) AS one (id)
WHERE a.item_id = ANY($1::bigint[]) AND one.id IS NOT NULL;

-- name: spoken_of
-- The items of which the load says something new, to be compared with those of other sources.
SELECT id FROM merged WHERE is_new OR is_changed;

-- name: waiting_pairs
-- The pairs that wait for a person because of event $1: neither decided already, nor of one article by other links.
SELECT count(*) FROM links l LEFT JOIN inactive_items x ON x.item_id = l.left_id LEFT JOIN inactive_items y ON y.item_id = l.right_id
WHERE l.no = $1 AND l.decision = 'review' AND coalesce(x.owner_id, l.left_id) <> coalesce(y.owner_id, l.right_id)
  AND NOT EXISTS (SELECT FROM events e WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL
                  AND least(e.item_id, e.survivor_id) = l.left_id AND greatest(e.item_id, e.survivor_id) = l.right_id);

-- name: active_before
-- How many items were active before the load. $1: those that it merges.
SELECT count(*) FROM items i
WHERE (i.id = ANY($1::bigint[]) OR NOT EXISTS (SELECT FROM inactive_items x WHERE x.item_id = i.id))
  AND NOT EXISTS (SELECT FROM merged m WHERE m.id = i.id AND m.is_new);

-- name: refreshed
-- The items that this load changes, and the owners that their claims count for. $1: as above.
WITH changed AS (
    SELECT id FROM merged WHERE is_changed
    UNION SELECT item_id FROM item_sources WHERE source_id = $1 AND item_id IN (SELECT item_id FROM affected))
SELECT id FROM changed UNION SELECT item_id FROM regrouped
UNION SELECT x.owner_id FROM changed c JOIN inactive_items x ON x.item_id = c.id WHERE x.owner_id IS NOT NULL;

-- name: insert_items
-- The only claim of a new item is the item.
INSERT INTO items (id, iid, name, alt_names, brand_id, category_id, product_type, identifiers, attributes,
                   first_seen_on, updated_at, data_version)
SELECT n.id, n.iid, n.name, n.alt_names, m.brand_id, m.category_id, n.product_type, n.identifiers, n.attributes,
       n.min_day, $2, $1
FROM new_items n JOIN merged m USING (id) WHERE m.is_new;

-- name: inserted
-- The items that this load has inserted.
SELECT id AS item_id FROM merged WHERE is_new;

-- name: insert_impacts
-- Likewise its figures.
INSERT INTO impacts SELECT one.* FROM new_items n JOIN merged m USING (id), jsonb_array_elements(n.impacts) AS figure,
    jsonb_populate_record(NULL::impacts, figure || jsonb_build_object('item_id', n.id, 'source_id', $1::int, 'as_of', n.max_day)) AS one
WHERE m.is_new AND NOT figure ? 'stage';

-- name: insert_stages
-- And what stages of the life cycle contribute to them.
INSERT INTO impact_stages SELECT one.* FROM new_items n JOIN merged m USING (id), jsonb_array_elements(n.impacts) AS figure,
    jsonb_populate_record(NULL::impact_stages, figure || jsonb_build_object('item_id', n.id, 'source_id', $1::int, 'as_of', n.max_day)) AS one
WHERE m.is_new AND figure ? 'stage';

-- name: returned
-- An IID that an undone load had brought, and that this one brings again, is not gone any more.
DELETE FROM removed_items r USING merged m WHERE r.item_id = m.id AND m.is_new;

-- name: identified
-- The items whose identifiers the load may change: an unchanged claim names them as before, and a new item without identifiers
-- has no rows.
SELECT m.id AS item_id FROM merged m JOIN new_items n USING (id) WHERE m.is_changed OR (m.is_new AND n.identifiers <> '[]');

-- name: item_sources
-- When the source last spoke of the item, and the hash by which the next load knows whether it says something new.
INSERT INTO item_sources (item_id, source_id, source_item_id, content_hash, observed_at, first_day)
SELECT n.id, $2, n.source_item_id, n.content_hash, n.max_day, n.min_day FROM new_items n JOIN merged m USING (id)
WHERE m.is_new = $1
ON CONFLICT (item_id, source_id) DO UPDATE SET content_hash = excluded.content_hash,
    observed_at = greatest(item_sources.observed_at, excluded.observed_at),
    first_day = least(item_sources.first_day, excluded.first_day)
WHERE (item_sources.content_hash, item_sources.observed_at, item_sources.first_day) IS DISTINCT FROM (
    excluded.content_hash, greatest(item_sources.observed_at, excluded.observed_at),
    least(item_sources.first_day, excluded.first_day));

-- name: observations
-- A state is replaced where it says something else; an event is another row already by its mark. What is replaced, and what
-- is only repeated, stays as a claim: by it an undone load gives back what was before it, or what others still say.
CREATE TEMP TABLE changed_observations ON COMMIT DROP AS
WITH newest AS (
    SELECT DISTINCT ON (item_id, day, mark) * FROM stage_observations
    ORDER BY item_id, day, mark, ctid DESC),
written AS (
    INSERT INTO observations (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no)
    SELECT item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no FROM newest
    ON CONFLICT (item_id, day, mark) DO UPDATE SET price_minor = excluded.price_minor, list_minor = excluded.list_minor,
        units = excluded.units, currency = excluded.currency, load_no = excluded.load_no
    WHERE (observations.price_minor, observations.list_minor, observations.units, observations.currency)
        IS DISTINCT FROM (excluded.price_minor, excluded.list_minor, excluded.units, excluded.currency)
    RETURNING item_id, day, mark, old.item_id IS NULL AS inserted, old.price_minor, old.list_minor, old.channel_id, old.units,
              old.source_id, old.kind, old.currency, old.load_no),
replaced AS (
    INSERT INTO observation_claims (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no)
    SELECT item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no
    FROM written WHERE NOT inserted),
repeated AS (
    INSERT INTO observation_claims (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no)
    SELECT n.item_id, n.mark, n.price_minor, n.list_minor, n.day, n.channel_id, n.units, n.source_id, n.kind, n.currency, n.load_no
    FROM newest n WHERE NOT EXISTS (
        SELECT FROM written w WHERE w.item_id = n.item_id AND w.day = n.day AND w.mark = n.mark))
SELECT item_id, day, inserted FROM written;

-- name: observation_counts
-- For the summary: how many were new, how many replaced another value.
SELECT count(*) FILTER (WHERE inserted), count(*) FILTER (WHERE NOT inserted) FROM changed_observations;

-- name: observed_months
-- Months of former loads that this one wrote into.
SELECT DISTINCT date_trunc('month', day)::date FROM changed_observations;

-- name: changed_count
-- Items of which the load says something else than its source did before, and those of which it says the same.
SELECT count(*) FILTER (WHERE is_changed), count(*) FILTER (WHERE NOT is_new AND NOT is_changed) FROM merged;

-- name: impact_counts
-- For the account: the figures that the source gives for the first time, those that it changes, those that it repeats.
WITH said AS (SELECT id, f->>'indicator' AS indicator, f->>'stage' AS stage, f AS figure FROM new_items, jsonb_array_elements(impacts) AS f),
before AS (
    SELECT t.item_id, f->>'indicator' AS indicator, f->>'stage' AS stage, f AS figure
    FROM item_sources t JOIN new_items n ON n.id = t.item_id
    JOIN item_contents c ON c.item_id = t.item_id AND c.content_hash = t.content_hash, jsonb_array_elements(c.impacts) AS f
    WHERE t.source_id = $1 AND n.impacts <> '[]')
SELECT count(*) FILTER (WHERE b.figure IS NULL), count(*) FILTER (WHERE b.figure <> s.figure), count(*) FILTER (WHERE b.figure = s.figure)
FROM said s LEFT JOIN before b ON b.item_id = s.id AND b.indicator = s.indicator AND b.stage IS NOT DISTINCT FROM s.stage;

-- name: repeated_count
-- Observations that the load found as they are: it keeps a claim on each.
SELECT count(*) FROM observation_claims WHERE load_no = $1;

-- name: changes
-- Which records this load changed: $3 names those that only got other observations.
INSERT INTO item_changes (item_id, no, at)
SELECT id, $1::integer, $2::timestamptz FROM merged WHERE is_new OR is_changed
UNION SELECT unnest($3::bigint[]), $1::integer, $2::timestamptz;

-- name: new_versions
-- A record has one version more for each load that changed an item of it, however many of its items that are.
WITH changed AS MATERIALIZED (
    (SELECT item_id AS id FROM item_changes WHERE no = $1
     UNION SELECT x.owner_id FROM item_changes c JOIN inactive_items x ON x.item_id = c.item_id
     WHERE c.no = $1 AND x.owner_id IS NOT NULL)
    EXCEPT SELECT id FROM merged WHERE is_new)
UPDATE items i SET version = version + 1, updated_at = $2, data_version = $3 FROM changed c WHERE i.id = c.id;

-- name: regrouped_versions
-- Where articles have other items now, their records have a version for each event that changed any of these.
WITH members AS (
    SELECT g.item_id AS owner_id, g.item_id FROM regrouped g
    UNION ALL SELECT x.owner_id, x.item_id FROM regrouped g JOIN inactive_items x ON x.owner_id = g.item_id),
counted AS (
    SELECT m.owner_id, count(DISTINCT c.no) + sum(c.times - 1) AS version, max(c.at) AS updated_at
    FROM members m JOIN item_changes c ON c.item_id = m.item_id GROUP BY m.owner_id)
UPDATE items i SET version = c.version, updated_at = c.updated_at, data_version = $1 FROM counted c WHERE i.id = c.owner_id;

-- name: brand_updates
-- A brand is as new as the newest of its items, which may have been seen in another channel now. Those of new items are counted
-- anew anyway. Items and the articles that they are part of are two joins, and EXCEPT is no join: the planner knows nothing
-- of a load that has just begun, and would compare each of its items with all others, one by one.
WITH changed AS MATERIALIZED (
    SELECT item_id FROM item_changes WHERE no = $1 EXCEPT SELECT id FROM merged WHERE is_new),
seen AS (
    SELECT i.brand_id FROM changed c JOIN items i ON i.id = c.item_id
    UNION SELECT i.brand_id FROM changed c JOIN inactive_items x USING (item_id) JOIN items i ON i.id = x.owner_id)
UPDATE brands b SET updated_at = $2 FROM seen WHERE b.id = seen.brand_id RETURNING b.id;

-- name: recounted_brands
-- Brands that got an item, have one that says something else now, or gave one to another brand.
SELECT brand_id FROM merged WHERE is_new AND brand_id IS NOT NULL
UNION SELECT i.brand_id FROM refreshing r JOIN items i ON i.id = r.item_id WHERE i.brand_id IS NOT NULL
UNION SELECT a.old_brand FROM refreshing r JOIN affected a USING (item_id) WHERE a.old_brand > 0;

-- name: existing_among
-- Of the items that got observations, those that were there before this load.
SELECT s.item_id FROM seeds s LEFT JOIN merged m ON m.id = s.item_id WHERE m.id IS NULL OR NOT (m.is_new OR m.is_changed);

-- name: rollup_items
-- Where the load's items will belong, and where they did before: -1 where they were not. Items that are new may not be in
-- their table yet, while their rollups are being made already.
SELECT a.item_id, CASE WHEN x.item_id IS NULL THEN a.item_id ELSE coalesce(x.owner_id, -1) END,
       coalesce(CASE WHEN o.id IS NULL THEN m.brand_id ELSE o.brand_id END, 0),
       coalesce(CASE WHEN o.id IS NULL THEN m.category_id ELSE o.category_id END, 0), a.old_brand, a.old_category
FROM affected a LEFT JOIN merged m ON m.id = a.item_id LEFT JOIN inactive_items x ON x.item_id = a.item_id
LEFT JOIN items o ON o.id = coalesce(x.owner_id, a.item_id);

-- name: touched_by_load
-- The months in which an item got or changed an observation; all its months where it moved to another article, brand or
-- category. Few items move, which the planner cannot know: from an array it reads their observations by the index, from a
-- join it would read all observations of the index.
WITH moved AS MATERIALIZED (
    SELECT g.item_id, one.id FROM regrouped g JOIN affected a USING (item_id) LEFT JOIN inactive_items x USING (item_id),
        unnest(ARRAY[a.item_id, a.old_owner, CASE WHEN x.item_id IS NULL THEN a.item_id ELSE x.owner_id END]) AS one (id)
    WHERE a.old_owner <> -1 AND one.id IS NOT NULL
      AND a.old_owner IS DISTINCT FROM CASE WHEN x.item_id IS NULL THEN a.item_id ELSE x.owner_id END
    UNION ALL
    SELECT own.id, own.id FROM affected a JOIN items i ON i.id = a.item_id, LATERAL (
        SELECT i.id UNION ALL SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS own (id)
    WHERE a.old_brand >= 0 AND (coalesce(i.brand_id, 0), coalesce(i.category_id, 0)) <> (a.old_brand, a.old_category)),
observed AS MATERIALIZED (
    SELECT DISTINCT item_id, date_trunc('month', day)::date AS month FROM observations
    WHERE item_id = ANY (ARRAY(SELECT item_id FROM moved)))
SELECT item_id, date_trunc('month', day)::date AS month FROM changed_observations
UNION
SELECT m.id, o.month FROM moved m JOIN observed o USING (item_id);
