-- name: seeds
-- The items that an event speaks of; temporary, because they belong to one event.
CREATE TEMP TABLE seeds (item_id bigint PRIMARY KEY) ON COMMIT DROP;

-- name: more_seeds
-- Items whose owner changes with the event.
INSERT INTO seeds SELECT unnest($1::bigint[]) ON CONFLICT (item_id) DO NOTHING;

-- name: affected
-- The items whose rows or rollups an event may change, with their owner and the brand and category of their rollups before it;
-- -1: none.
CREATE TEMP TABLE affected (
    item_id bigint PRIMARY KEY, old_owner bigint NOT NULL, old_brand integer NOT NULL, old_category integer NOT NULL
) ON COMMIT DROP;

-- name: affected_items
-- Whose articles are found anew.
SELECT item_id FROM affected;

-- name: expand
-- A seed's owner and all that belongs to the owner: they share one record. Asked again after owners have changed, it adds
-- the new ones; it must run before the rows of `items` are written.
INSERT INTO affected (item_id, old_owner, old_brand, old_category)
WITH owners AS (
    SELECT coalesce(x.owner_id, s.item_id) AS id FROM seeds s LEFT JOIN inactive_items x USING (item_id)),
together AS (
    SELECT item_id AS id FROM seeds UNION SELECT id FROM owners
    UNION SELECT x.item_id FROM owners o JOIN inactive_items x ON x.owner_id = o.id)
SELECT t.id, CASE WHEN i.id IS NULL THEN -1 WHEN x.item_id IS NULL THEN t.id ELSE coalesce(x.owner_id, -1) END,
       CASE WHEN i.status = 'active' THEN coalesce(i.brand_id, 0) ELSE -1 END,
       CASE WHEN i.status = 'active' THEN coalesce(i.category_id, 0) ELSE -1 END
FROM together t LEFT JOIN items i ON i.id = t.id LEFT JOIN inactive_items x ON x.item_id = t.id
ON CONFLICT (item_id) DO NOTHING;

-- name: refreshing
-- The items whose rows are made anew from their claims.
CREATE TEMP TABLE refreshing (item_id bigint PRIMARY KEY) ON COMMIT DROP;

-- name: claims
-- Every distinct content that an item's sources claim, its own and those of the items merged into it, by precedence: the
-- source's rank, then the item's own before merged ones, then the newest day. The order of loads decides only between
-- claims of one source and one day, so that the order in which sources came changes nothing.
CREATE TEMP TABLE claimed ON COMMIT DROP AS
WITH members AS (
    SELECT r.item_id AS owner_id, r.item_id FROM refreshing r
    UNION ALL SELECT x.owner_id, x.item_id FROM refreshing r JOIN inactive_items x ON x.owner_id = r.item_id),
distinct_contents AS (
    SELECT DISTINCT ON (m.owner_id, c.item_id, c.source_id, c.content_hash) m.owner_id, c.item_id, c.source_id, c.content_hash,
           c.as_of, c.no
    FROM members m JOIN item_claims c ON c.item_id = m.item_id
    ORDER BY m.owner_id, c.item_id, c.source_id, c.content_hash, c.as_of DESC, c.no DESC)
SELECT d.owner_id, d.item_id, d.source_id, s.name AS source, d.as_of, k.name, k.alt_names, k.brand_slug, k.category_code,
       k.product_type, k.identifiers, k.attributes, k.impacts,
       row_number() OVER (PARTITION BY d.owner_id ORDER BY s.rank NULLS LAST, d.item_id <> d.owner_id, d.as_of DESC, s.name,
                          d.no DESC, d.item_id) AS priority
FROM distinct_contents d JOIN item_contents k USING (item_id, content_hash) JOIN sources s ON s.id = d.source_id;

-- name: claimed_attributes
-- Each attribute by itself: the first source that brings it.
CREATE TEMP TABLE claimed_attributes ON COMMIT DROP AS
SELECT DISTINCT ON (owner_id, key) owner_id, key, value, source
FROM claimed, jsonb_each(attributes) ORDER BY owner_id, key, priority;

-- name: claimed_identifiers
-- All identifiers: of each source's article the newest value of each scheme, the preferred source's first.
CREATE TEMP TABLE claimed_identifiers ON COMMIT DROP AS
WITH newest AS (
    SELECT DISTINCT ON (owner_id, item_id, source_id, scheme) owner_id, source, priority, n, scheme, value
    FROM (SELECT c.*, e.n, e.one ->> 'scheme' AS scheme, e.one ->> 'value' AS value
          FROM claimed c, jsonb_array_elements(c.identifiers) WITH ORDINALITY AS e (one, n)) each
    ORDER BY owner_id, item_id, source_id, scheme, priority)
SELECT DISTINCT ON (owner_id, scheme, value) owner_id, source, priority, n, scheme, value
FROM newest ORDER BY owner_id, scheme, value, priority;

-- name: fields
-- One row an item: each field from the first source that brings it, and which source that is.
CREATE TEMP TABLE fields ON COMMIT DROP AS
WITH single AS (
    SELECT owner_id, count(DISTINCT source_id) AS sources,
           (array_agg(name ORDER BY priority) FILTER (WHERE name IS NOT NULL))[1] AS name,
           (array_agg(source ORDER BY priority) FILTER (WHERE name IS NOT NULL))[1] AS name_source,
           (array_agg(to_jsonb(alt_names) ORDER BY priority) FILTER (WHERE alt_names <> '{}'))[1] AS alt_names,
           (array_agg(source ORDER BY priority) FILTER (WHERE alt_names <> '{}'))[1] AS alt_names_source,
           (array_agg(brand_slug ORDER BY priority) FILTER (WHERE brand_slug IS NOT NULL))[1] AS brand_slug,
           (array_agg(source ORDER BY priority) FILTER (WHERE brand_slug IS NOT NULL))[1] AS brand_source,
           (array_agg(category_code ORDER BY priority) FILTER (WHERE category_code IS NOT NULL))[1] AS category_code,
           (array_agg(source ORDER BY priority) FILTER (WHERE category_code IS NOT NULL))[1] AS category_source,
           (array_agg(product_type ORDER BY priority) FILTER (WHERE product_type IS NOT NULL))[1] AS product_type,
           (array_agg(source ORDER BY priority) FILTER (WHERE product_type IS NOT NULL))[1] AS product_type_source
    FROM claimed GROUP BY owner_id),
by_name AS (
    SELECT owner_id, jsonb_object_agg(key, value) AS attributes, jsonb_object_agg('attributes.' || key, source) AS sources
    FROM claimed_attributes GROUP BY owner_id),
by_scheme AS (
    SELECT owner_id, jsonb_agg(jsonb_build_object('scheme', scheme, 'value', value) ORDER BY priority, n) AS identifiers,
           jsonb_object_agg('identifiers.' || scheme, source ORDER BY priority DESC) AS sources
    FROM claimed_identifiers GROUP BY owner_id)
SELECT s.owner_id, s.name, ARRAY(SELECT jsonb_array_elements_text(s.alt_names)) AS alt_names, b.id AS brand_id,
       c.id AS category_id, s.product_type, coalesce(i.identifiers, '[]') AS identifiers, coalesce(a.attributes, '{}') AS attributes,
       CASE WHEN s.sources > 1 THEN jsonb_strip_nulls(jsonb_build_object(
           'name', s.name_source, 'alt_names', s.alt_names_source, 'brand', s.brand_source, 'category', s.category_source,
           'product_type', s.product_type_source)) || coalesce(i.sources, '{}') || coalesce(a.sources, '{}') END AS field_sources
FROM single s LEFT JOIN by_name a USING (owner_id) LEFT JOIN by_scheme i USING (owner_id)
LEFT JOIN brands b ON b.slug = s.brand_slug LEFT JOIN categories c ON c.code = s.category_code;

-- name: write_fields
-- The days of the items merged into one count for it.
WITH members AS (
    SELECT owner_id, owner_id AS item_id FROM fields
    UNION ALL SELECT owner_id, x.item_id FROM fields JOIN inactive_items x USING (owner_id)),
first_days AS (
    SELECT m.owner_id, min(t.first_day) AS first_day FROM members m JOIN item_sources t USING (item_id) GROUP BY m.owner_id)
UPDATE items i SET name = coalesce(f.name, i.name), alt_names = f.alt_names, brand_id = f.brand_id, category_id = f.category_id,
    product_type = f.product_type, identifiers = f.identifiers, attributes = f.attributes, field_sources = f.field_sources,
    data_version = $1, first_seen_on = coalesce(d.first_day, i.first_seen_on)
FROM fields f LEFT JOIN first_days d USING (owner_id) WHERE i.id = f.owner_id;

-- name: clear_impacts
-- Figures are of active items alone: those of a merged item are its owner's.
DELETE FROM impacts WHERE item_id IN (SELECT item_id FROM refreshing);

-- name: clear_stages
-- Likewise what stages of the life cycle contribute.
DELETE FROM impact_stages WHERE item_id IN (SELECT item_id FROM refreshing);

-- name: write_impacts
-- Each indicator by itself: the first source that brings it.
INSERT INTO impacts SELECT DISTINCT ON (one.item_id, one.indicator) one.*
FROM claimed c, jsonb_array_elements(c.impacts) AS figure,
     jsonb_populate_record(NULL::impacts, figure || jsonb_build_object(
         'item_id', c.owner_id, 'source_id', c.source_id, 'as_of', c.as_of)) AS one
WHERE NOT figure ? 'stage' AND NOT EXISTS (SELECT FROM inactive_items x WHERE x.item_id = c.owner_id)
ORDER BY one.item_id, one.indicator, c.priority;

-- name: write_stages
-- All stages of an indicator from the first source that brings one: those of two sources would not add up.
INSERT INTO impact_stages SELECT DISTINCT ON ((s.one).item_id, (s.one).indicator, (s.one).stage) (s.one).*
FROM (SELECT one, c.priority, ROW(c.item_id, c.source_id) = first_value(ROW(c.item_id, c.source_id))
                 OVER (PARTITION BY one.item_id, one.indicator ORDER BY c.priority) AS is_first
      FROM claimed c, jsonb_array_elements(c.impacts) AS figure,
           jsonb_populate_record(NULL::impact_stages, figure || jsonb_build_object(
               'item_id', c.owner_id, 'source_id', c.source_id, 'as_of', c.as_of)) AS one
      WHERE figure ? 'stage' AND NOT EXISTS (SELECT FROM inactive_items x WHERE x.item_id = c.owner_id)) s
WHERE s.is_first ORDER BY (s.one).item_id, (s.one).indicator, (s.one).stage, s.priority;

-- name: item_groups
-- For the rollups: the owner of each item's observations (-1: none), where the owner belongs now, where the item did before.
SELECT a.item_id, CASE WHEN o.id IS NULL OR (x.item_id IS NOT NULL AND x.owner_id IS NULL) THEN -1 ELSE o.id END,
       coalesce(o.brand_id, 0), coalesce(o.category_id, 0), a.old_brand, a.old_category
FROM affected a LEFT JOIN inactive_items x ON x.item_id = a.item_id LEFT JOIN items o ON o.id = coalesce(x.owner_id, a.item_id);

-- name: no_changed_observations
-- An act on items changes no observations.
CREATE TEMP TABLE changed_observations (item_id bigint, day date, mark bigint) ON COMMIT DROP;

-- name: rollups_touched
-- The months of changed observations, for the items, their owners and those that were; where an item has another owner now,
-- or its owner another brand or category, all months of its observations.
WITH moved AS (
    SELECT a.item_id, a.old_owner, coalesce(x.owner_id, CASE WHEN x.item_id IS NULL THEN a.item_id ELSE -1 END) AS owner_id
    FROM affected a LEFT JOIN inactive_items x ON x.item_id = a.item_id),
elsewhere AS (
    SELECT m.item_id, m.old_owner, m.owner_id FROM moved m JOIN affected a ON a.item_id = m.owner_id
    JOIN items i ON i.id = m.owner_id
    WHERE m.owner_id <> m.old_owner OR (coalesce(i.brand_id, 0), coalesce(i.category_id, 0)) <> (a.old_brand, a.old_category)
    UNION SELECT item_id, old_owner, owner_id FROM moved WHERE owner_id = -1 AND old_owner <> -1),
rows AS (
    SELECT m.item_id, m.old_owner, m.owner_id, date_trunc('month', p.day)::date AS month FROM moved m JOIN changed_observations p USING (item_id)
    UNION SELECT e.item_id, e.old_owner, e.owner_id, date_trunc('month', o.day)::date
    FROM elsewhere e JOIN observations o ON o.item_id = e.item_id)
SELECT DISTINCT one.id, r.month FROM rows r, unnest(ARRAY[r.item_id, r.old_owner, r.owner_id]) AS one (id) WHERE one.id <> -1;

-- name: standing
-- The articles in effect, as readers and the lookup see them. $1, $2, $3: items, what each is now, and the survivor of a
-- merged one. Most are as they were: their rows are not written again.
UPDATE items i SET status = n.status, survivor_iid = n.survivor_iid
FROM (
    SELECT m.item_id, m.status, s.iid AS survivor_iid
    FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS m (item_id, status, survivor_id)
    LEFT JOIN items s ON s.id = m.survivor_id) n
WHERE i.id = n.item_id AND (i.status, i.survivor_iid) IS DISTINCT FROM (n.status, n.survivor_iid);

-- name: versions
-- A record has one version for each event that changed any of its items, and is as new as the last of them.
WITH members AS (
    SELECT a.item_id AS owner_id, a.item_id FROM affected a
    UNION ALL SELECT x.owner_id, x.item_id FROM affected a JOIN inactive_items x ON x.owner_id = a.item_id),
counted AS (
    SELECT m.owner_id, count(DISTINCT c.no) + sum(c.times - 1) AS version, max(c.at) AS updated_at
    FROM members m JOIN item_changes c ON c.item_id = m.item_id GROUP BY m.owner_id)
UPDATE items i SET version = c.version, updated_at = c.updated_at, data_version = $1 FROM counted c WHERE i.id = c.owner_id;

-- name: brands_touched
-- The brands of all items that the event may have changed, before and after it.
SELECT old_brand FROM affected WHERE old_brand > 0
UNION SELECT i.brand_id FROM affected a JOIN items i ON i.id = a.item_id WHERE i.brand_id IS NOT NULL;

-- name: brand_figures
-- Counted anew for these brands: an item may have left one for another, or have been withdrawn.
WITH touched AS (SELECT DISTINCT unnest($1::integer[]) AS id),
counted AS (
    SELECT t.id, count(i.id) FILTER (WHERE i.status = 'active') AS items,
           min(i.first_seen_on) FILTER (WHERE i.status = 'active') AS first_seen_on, max(i.updated_at) AS updated_at
    FROM touched t LEFT JOIN items i ON i.brand_id = t.id GROUP BY t.id),
ranked AS (
    SELECT i.brand_id, c.code, row_number() OVER (PARTITION BY i.brand_id ORDER BY count(*) DESC, c.code) AS priority
    FROM items i JOIN categories c ON c.id = i.category_id
    WHERE i.brand_id IN (SELECT id FROM touched) AND i.status = 'active' GROUP BY i.brand_id, c.code),
top AS (SELECT brand_id, array_agg(code ORDER BY priority) AS codes FROM ranked WHERE priority <= 5 GROUP BY brand_id)
UPDATE brands b SET item_count = n.items, first_seen_on = n.first_seen_on, top_categories = coalesce(top.codes, '{}'),
    updated_at = coalesce(n.updated_at, b.updated_at)
FROM counted n LEFT JOIN top ON top.brand_id = n.id WHERE b.id = n.id;

-- name: brand_rollups
-- The channels of a brand are those of its rollups.
SELECT id, channels FROM month_cells WHERE scope = 'b' AND id = ANY($1::integer[]);

-- name: brand_channels
-- $2, $3: pairs of brand and channel; a brand without any has none.
UPDATE brands b SET channels = seen.codes FROM (
    SELECT t.id, coalesce(array_agg(DISTINCT h.code ORDER BY h.code) FILTER (WHERE h.code IS NOT NULL), '{}') AS codes
    FROM unnest($1::integer[]) AS t (id)
    LEFT JOIN unnest($2::integer[], $3::integer[]) AS p (brand_id, channel_id) ON p.brand_id = t.id
    LEFT JOIN channels h ON h.id = p.channel_id GROUP BY t.id) seen
WHERE b.id = seen.id AND b.channels <> seen.codes;
