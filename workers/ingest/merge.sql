-- name: newest_staged
-- An item may be staged once per batch; its last row is what the source says now.
CREATE TEMP TABLE new_items ON COMMIT DROP AS
SELECT DISTINCT ON (s.id) s.*, p.first_day AS min_day, p.last_day AS max_day
FROM stage_items s JOIN stage_spans p USING (id) ORDER BY s.id, s.seq DESC;

-- name: analyze_staged
-- Temporary tables are unknown to the planner; without figures it would join a million rows by nested loops.
-- Only what is joined by: the long columns took most of the time.
ANALYZE new_items (id, brand_slug, category_code);

-- name: collisions
-- Two IIDs with one key: hash neighbours. They are refused by name instead of merged in silence.
SELECT n.iid, i.iid FROM new_items n JOIN items i ON i.id = n.id AND i.iid <> n.iid LIMIT 5;

-- name: brands
-- The first spelling of a name stays: later ones that fold to the same slug are the same brand.
INSERT INTO brands (slug, name, folded_name)
SELECT DISTINCT ON (brand_slug) brand_slug, brand_name, brand_folded FROM new_items
WHERE brand_slug IS NOT NULL ORDER BY brand_slug, brand_name ON CONFLICT (slug) DO NOTHING;

-- name: categories
-- Every ancestor gets a row too, so that each level has a code of its own.
INSERT INTO categories (code, path)
SELECT DISTINCT ON (code) code, path FROM (
    SELECT array_to_string((string_to_array(category_code, '.'))[1:n], '.') AS code, category_path[1:n] AS path
    FROM (SELECT DISTINCT category_code, category_path FROM new_items WHERE category_code IS NOT NULL) d,
         generate_series(1, cardinality(d.category_path)) AS n) levels
ORDER BY code, path ON CONFLICT (code) DO NOTHING;

-- name: resolved
-- What will be new, changed, or the same; decided once, used by all that follows.
CREATE TEMP TABLE merged ON COMMIT DROP AS
SELECT n.id, b.id AS brand_id, c.id AS category_id, i.brand_id AS old_brand_id,
       i.category_id AS old_category_id, i.id IS NULL AS is_new,
       i.id IS NOT NULL AND (t.content_hash IS DISTINCT FROM n.content_hash OR n.min_day < i.first_seen_on) AS is_changed
FROM new_items n
LEFT JOIN items i ON i.id = n.id
LEFT JOIN item_sources t ON t.item_id = n.id AND t.source_id = $1
LEFT JOIN brands b ON b.slug = n.brand_slug
LEFT JOIN categories c ON c.code = n.category_code;

-- name: analyze_resolved
-- The planner knows nothing of this temporary table either.
ANALYZE merged;

-- name: insert_items
-- New items begin at version 1.
INSERT INTO items (id, iid, name, alt_names, brand_id, category_id, product_type, identifiers, attributes,
                   first_seen_on, data_version)
SELECT n.id, n.iid, n.name, n.alt_names, m.brand_id, m.category_id, n.product_type, n.identifiers, n.attributes,
       n.min_day, $1
FROM new_items n JOIN merged m USING (id) WHERE m.is_new;

-- name: update_items
-- Only what changed; the status is the operator's and stays.
UPDATE items i SET name = n.name, alt_names = n.alt_names, brand_id = m.brand_id, category_id = m.category_id,
    product_type = n.product_type, identifiers = n.identifiers, attributes = n.attributes,
    first_seen_on = least(i.first_seen_on, n.min_day), version = i.version + 1, updated_at = statement_timestamp(),
    data_version = $1
FROM new_items n JOIN merged m USING (id) WHERE i.id = n.id AND m.is_changed;

-- name: item_sources
-- When the source last spoke of the item, and the hash by which the next load knows whether it says something new.
INSERT INTO item_sources (item_id, source_id, source_item_id, content_hash, observed_at)
SELECT n.id, $1, n.source_item_id, n.content_hash, n.max_day FROM new_items n
ON CONFLICT (item_id, source_id) DO UPDATE SET content_hash = excluded.content_hash,
    observed_at = greatest(item_sources.observed_at, excluded.observed_at)
WHERE item_sources.content_hash <> excluded.content_hash OR item_sources.observed_at < excluded.observed_at;

-- name: impacts
-- The newest figure counts.
WITH newest AS (SELECT DISTINCT ON (id, indicator) * FROM stage_impacts ORDER BY id, indicator, as_of DESC)
INSERT INTO impacts (item_id, indicator, per_unit, basis, method, source_id, as_of)
SELECT id, indicator, per_unit, basis, method, $1, as_of FROM newest
ON CONFLICT (item_id, indicator) DO UPDATE SET per_unit = excluded.per_unit, basis = excluded.basis,
    method = excluded.method, source_id = excluded.source_id, as_of = excluded.as_of
WHERE excluded.as_of >= impacts.as_of
  AND (impacts.per_unit, impacts.basis, impacts.method) IS DISTINCT FROM (excluded.per_unit, excluded.basis, excluded.method)
RETURNING item_id;

-- name: observations
-- A state is replaced where it says something else; an event is another row already by its mark.
CREATE TEMP TABLE placed ON COMMIT DROP AS
WITH newest AS (
    SELECT DISTINCT ON (item_id, day, mark) * FROM stage_observations
    ORDER BY item_id, day, mark, seq DESC),
written AS (
    INSERT INTO observations (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency)
    SELECT item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency FROM newest
    ON CONFLICT (item_id, day, mark) DO UPDATE SET price_minor = excluded.price_minor,
        list_minor = excluded.list_minor, units = excluded.units, currency = excluded.currency
    WHERE (observations.price_minor, observations.list_minor, observations.units, observations.currency)
        IS DISTINCT FROM (excluded.price_minor, excluded.list_minor, excluded.units, excluded.currency)
    RETURNING item_id, day, old.item_id IS NULL AS inserted)
SELECT * FROM written;

-- name: placed_counts
-- For the summary: how many were new, how many replaced another value.
SELECT count(*) FILTER (WHERE inserted), count(*) FILTER (WHERE NOT inserted) FROM placed;

-- name: placed_months
-- Months of former loads that this one wrote into.
SELECT DISTINCT date_trunc('month', day)::date FROM placed;

-- name: touch_items
-- An item whose observations changed shows another price band: its record has a new version.
UPDATE items i SET version = version + 1, updated_at = statement_timestamp(), data_version = $1
WHERE i.data_version <> $1 AND i.id = ANY($2::bigint[]);

-- name: existing_among
-- Of the items that got observations, those that were there before this load.
SELECT m.id FROM merged m WHERE NOT m.is_new AND NOT m.is_changed;

-- name: brand_figures
-- Only brands that this load touched, or that lost an item to another brand.
WITH touched AS (
    SELECT brand_id AS id FROM merged WHERE is_new OR is_changed UNION SELECT old_brand_id FROM merged WHERE is_changed),
counted AS (
    SELECT t.id, count(i.id) AS items, min(i.first_seen_on) AS first_seen_on FROM touched t
    LEFT JOIN items i ON i.brand_id = t.id AND i.status = 'active' WHERE t.id IS NOT NULL GROUP BY t.id),
ranked AS (
    SELECT i.brand_id, c.code, row_number() OVER (PARTITION BY i.brand_id ORDER BY count(*) DESC, c.code) AS place
    FROM items i JOIN categories c ON c.id = i.category_id
    WHERE i.brand_id IN (SELECT id FROM touched) AND i.status = 'active' GROUP BY i.brand_id, c.code),
top AS (SELECT brand_id, array_agg(code ORDER BY place) AS codes FROM ranked WHERE place <= 5 GROUP BY brand_id)
UPDATE brands b SET item_count = n.items, first_seen_on = n.first_seen_on, top_categories = coalesce(top.codes, '{}'),
    updated_at = statement_timestamp()
FROM counted n LEFT JOIN top ON top.brand_id = n.id WHERE b.id = n.id;

-- name: brand_channels
-- Observations are never taken away, so a brand's channels only grow.
UPDATE brands b SET channels = grown.channels, updated_at = statement_timestamp()
FROM (SELECT b.id, array_agg(DISTINCT c ORDER BY c) AS channels
      FROM brands b JOIN stage_brand_channels s ON s.brand_slug = b.slug,
           LATERAL unnest(b.channels || s.channel) AS c GROUP BY b.id) grown
WHERE b.id = grown.id AND b.channels <> grown.channels;

-- name: derive_items
-- Where the load's items will belong, and where they did before: -1 where they were not. One that says nothing new stays.
SELECT id, coalesce(CASE WHEN is_new OR is_changed THEN brand_id ELSE old_brand_id END, 0),
       coalesce(CASE WHEN is_new OR is_changed THEN category_id ELSE old_category_id END, 0),
       CASE WHEN is_new THEN -1 ELSE coalesce(old_brand_id, 0) END,
       CASE WHEN is_new THEN -1 ELSE coalesce(old_category_id, 0) END
FROM merged;

-- name: derive_touched
-- The months in which an item got or changed an observation; all its months where it moved to another brand or category.
SELECT item_id, date_trunc('month', day)::date AS month FROM placed
UNION
SELECT o.item_id, date_trunc('month', o.day)::date FROM merged m JOIN observations o ON o.item_id = m.id
WHERE m.is_changed AND (m.brand_id, m.category_id) IS DISTINCT FROM (m.old_brand_id, m.old_category_id);
