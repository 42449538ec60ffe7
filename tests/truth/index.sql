-- What the index must hold once every recipe has run. An item's text is that of its newest row; one without any day is
-- first seen when it is loaded.
CREATE TABLE known AS
SELECT coalesce(upper(iid), mint(source, item)) AS iid, * EXCLUDE (iid)
FROM (SELECT *, coalesce(min(day) OVER (PARTITION BY source, item), current_date) AS first_seen_on,
             row_number() OVER (PARTITION BY source, item ORDER BY day DESC NULLS LAST, seq DESC) AS age FROM texts)
WHERE age = 1;

CREATE TABLE slugs AS SELECT text, slug(text) AS slug
FROM (SELECT brand AS text FROM known UNION SELECT unnest(category) FROM known) WHERE text IS NOT NULL;

CREATE TABLE items AS
SELECT k.iid, k.source, k.item, k.name, k.alt_name, b.slug AS brand, k.brand AS brand_name,
       nullif(array_to_string([s.slug FOR s IN levels.slugs], '.'), '') AS category, category AS path, k.product_type,
       list_filter(k.identifiers, lambda i: i.value IS NOT NULL) AS identifiers,
       map_from_entries(list_filter(map_entries(k.attributes), lambda e: e.value IS NOT NULL)) AS attributes,
       k.first_seen_on, m.survivor, w.iid IS NOT NULL AS is_withdrawn
FROM known k LEFT JOIN slugs b ON b.text = k.brand
LEFT JOIN LATERAL (
    SELECT list({slug: s.slug} ORDER BY l.place) AS slugs
    FROM (SELECT unnest(k.category) AS text, generate_subscripts(k.category, 1) AS place) l JOIN slugs s USING (text)
) levels ON true
LEFT JOIN merged m ON m.iid = k.iid LEFT JOIN withdrawn w ON w.iid = k.iid;

-- A state is what was said of it last; every event counts. Prices of a merged item are its survivor's.
CREATE TABLE observations AS
SELECT coalesce(i.survivor, i.iid) AS iid, p.day, p.channel, p.kind, p.currency, p.price, p.list_price, p.units,
       p.source, o.brand, o.category, p.seq
FROM prices p JOIN items i USING (source, item) JOIN items o ON o.iid = coalesce(i.survivor, i.iid)
WHERE NOT o.is_withdrawn
QUALIFY p.identity = 'event' OR 1 = row_number() OVER (
    PARTITION BY p.source, p.item, p.day, fold(p.channel), p.kind, p.currency ORDER BY p.seq DESC);

CREATE TABLE own_figures AS
SELECT i.iid, f.indicator, f.value, f.basis, f.method, f.source, f.day AS as_of
FROM figures f JOIN items i USING (source, item) WHERE NOT i.is_withdrawn AND i.survivor IS NULL
QUALIFY 1 = row_number() OVER (PARTITION BY i.iid, f.indicator ORDER BY f.day DESC, f.seq DESC);

-- The mean of a code's rows, kept as sum and count: a quotient would have to be rounded.
CREATE TABLE factors AS
SELECT source, scope, code, indicator, sum(value) AS total, count(*) AS samples, any_value(method) AS method
FROM factor_rows GROUP BY source, scope, code, indicator;

-- For each item with a weight the nearest factor of each indicator: its product type's, else its closest category's.
CREATE TABLE averages AS
SELECT i.iid, f.indicator, f.total, f.samples, f.scope, f.code, f.method, f.source,
       (i.attributes['weight_kg'])::DECIMAL(20, 9) AS weight
FROM items i JOIN factors f ON (f.scope = 'product_type' AND f.code = i.product_type)
    OR (f.scope = 'category' AND starts_with(i.category || '.', f.code || '.'))
WHERE try_cast(i.attributes['weight_kg'] AS DECIMAL(20, 9)) > 0 AND NOT i.is_withdrawn AND i.survivor IS NULL
QUALIFY 1 = row_number() OVER (
    PARTITION BY i.iid, f.indicator ORDER BY f.scope = 'category', length(f.code) DESC);

CREATE VIEW active AS SELECT * FROM items WHERE NOT is_withdrawn AND survivor IS NULL;
