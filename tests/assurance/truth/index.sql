-- What the index must hold once every recipe has run. The text of a source's item is that of its newest row; an item without
-- any day is first seen when it is loaded.
CREATE TABLE known AS
SELECT coalesce(upper(iid), mint(source, item)) AS iid, * EXCLUDE (iid, age)
FROM (SELECT *, coalesce(min(day) OVER (PARTITION BY source, item), current_date) AS first_seen_on,
             coalesce(max(day) OVER (PARTITION BY source, item), current_date) AS last_seen_on,
             row_number() OVER (PARTITION BY source, item ORDER BY day DESC NULLS LAST, seq DESC) AS age FROM texts)
WHERE age = 1;

-- A merged item's part of its survivor, and its own record, which a redirection hides.
CREATE TABLE members AS SELECT iid AS record, iid AS member FROM known UNION SELECT survivor, iid FROM merged;

-- By precedence: the source's rank, the item's own before merged ones, the newest, the source's name.
CREATE TABLE claims AS
SELECT m.record, k.*, row_number() OVER (
    PARTITION BY m.record ORDER BY r.rank NULLS LAST, m.member <> m.record, k.last_seen_on DESC, k.source) AS place
FROM members m JOIN known k ON k.iid = m.member LEFT JOIN ranks r USING (source);

CREATE TABLE slugs AS SELECT text, slug(text) AS slug
FROM (SELECT brand AS text FROM known UNION SELECT unnest(category) FROM known) WHERE text IS NOT NULL;

CREATE TABLE codes AS SELECT path, array_to_string(list(slug ORDER BY place), '.') AS code
FROM (SELECT DISTINCT category AS path, unnest(category) AS text, generate_subscripts(category, 1) AS place FROM known)
JOIN slugs USING (text) GROUP BY path;

-- Each attribute by itself: the first that has it.
CREATE TABLE attributes AS
SELECT record, map_from_entries(list((key, value))) AS attributes, map_from_entries(list((key, source))) AS sources
FROM (SELECT record, e.key AS key, arg_min(e.value, place) AS value, arg_min(source, place) AS source
      FROM (SELECT record, place, source, unnest(map_entries(attributes)) AS e FROM claims) WHERE e.value IS NOT NULL GROUP BY ALL)
GROUP BY record;

-- Which source each field of a record is from.
CREATE TABLE origins AS
SELECT record, unnest([
    {field: 'name', source: arg_min(source, place)},
    {field: 'alt_names', source: arg_min(source, place) FILTER (WHERE alt_name <> name)},
    {field: 'brand', source: arg_min(source, place) FILTER (WHERE brand IS NOT NULL)},
    {field: 'category', source: arg_min(source, place) FILTER (WHERE category IS NOT NULL)},
    {field: 'product_type', source: arg_min(source, place) FILTER (WHERE product_type IS NOT NULL)}], recursive := true)
FROM claims GROUP BY record
UNION ALL SELECT record, 'attributes.' || e.key, e.value FROM (SELECT record, unnest(map_entries(sources)) AS e FROM attributes)
UNION ALL
SELECT record, 'identifiers.' || i.scheme, arg_min(source, place)
FROM (SELECT record, place, source, unnest(identifiers) AS i FROM claims) WHERE i.value IS NOT NULL GROUP BY ALL;

-- Each field of an item by itself: the first that has it, never the null of another.
CREATE TABLE items AS
WITH fields AS (
    SELECT record, arg_min(name, place) AS name, arg_min(nullif(alt_name, name), place) AS alt_name,
           arg_min(brand, place) AS brand_name, arg_min(category, place) AS path, arg_min(product_type, place) AS product_type,
           list_filter(flatten(list(identifiers ORDER BY place)), lambda i: i.value IS NOT NULL) AS identifiers,
           min(first_seen_on) AS first_seen_on
    FROM claims GROUP BY record)
SELECT f.record AS iid, f.name, f.alt_name, b.slug AS brand, f.brand_name, c.code AS category, f.path, f.product_type,
       list_filter(f.identifiers, lambda i, n: list_position(f.identifiers, i) = n) AS identifiers,
       coalesce(a.attributes, MAP {}) AS attributes, f.first_seen_on, m.survivor, w.iid IS NOT NULL AS is_withdrawn
FROM fields f LEFT JOIN attributes a USING (record) LEFT JOIN slugs b ON b.text = f.brand_name LEFT JOIN codes c ON c.path = f.path
LEFT JOIN merged m ON m.iid = f.record LEFT JOIN withdrawn w ON w.iid = f.record;

-- A channel is written as it was first; a state is what was said of it last; every event counts. Prices of a merged item are
-- its survivor's.
CREATE TABLE observations AS
WITH channels AS (SELECT fold(channel) AS folded, arg_min(channel, seq) AS spelled FROM prices GROUP BY ALL)
SELECT o.iid, p.day, c.spelled AS channel, p.kind, p.currency, p.price, p.list_price, p.units, p.source, o.brand, o.category
FROM prices p JOIN known k USING (source, item) LEFT JOIN merged m ON m.iid = k.iid
JOIN items o ON o.iid = coalesce(m.survivor, k.iid) JOIN channels c ON c.folded = fold(p.channel)
WHERE NOT o.is_withdrawn
QUALIFY p.identity = 'event' OR 1 = row_number() OVER (
    PARTITION BY p.source, p.item, p.day, fold(p.channel), p.kind, p.currency ORDER BY p.seq DESC);

-- What an article holds, as its name states it.
CREATE TABLE contents AS
SELECT iid, unit, amount FROM (
    SELECT iid, 'kg' AS unit, kilograms(name) AS amount FROM items UNION ALL SELECT iid, 'l', litres(name) FROM items)
WHERE amount IS NOT NULL;

CREATE VIEW active AS SELECT * FROM items WHERE NOT is_withdrawn AND survivor IS NULL;

CREATE TABLE own_figures AS
SELECT a.iid, f.indicator, f.value, f.basis, f.method, f.source, f.day AS as_of, f.pedigree, f.year
FROM active a JOIN claims c ON c.record = a.iid JOIN figures f USING (source, item)
QUALIFY 1 = row_number() OVER (PARTITION BY a.iid, f.indicator ORDER BY c.place, f.day DESC, f.seq DESC);

-- The mean of a code's rows, kept as sum and count: a quotient would have to be rounded.
CREATE TABLE factors AS
SELECT source, scope, basis, code, indicator, sum(value) AS total, count(*) AS samples, any_value(method) AS method, any_value(year) AS year,
       count(*) FILTER (WHERE value > 0) AS logs, stddev_samp(ln(nullif(value, 0)::DOUBLE)) AS deviation
FROM factor_rows GROUP BY source, scope, basis, code, indicator;

-- The spread within the categories of a scope: squares of logarithms about their category's mean, and degrees of freedom.
CREATE TABLE pooled AS
SELECT scope, indicator, sum((logs - 1) * deviation * deviation) AS squares, sum(logs - 1) AS degrees
FROM (SELECT DISTINCT scope, indicator, total / samples AS mean, logs, deviation FROM factors WHERE logs > 1)
GROUP BY scope, indicator;

-- What an article weighs, and on which basis: its weight, else its litres times kilograms a litre.
CREATE TABLE weights AS
SELECT iid, coalesce(attributes['weight_basis'], 'as_sold') AS basis, coalesce(
    (SELECT w FROM (SELECT try_cast(attributes['weight_kg'] AS DECIMAL(38, 20)) AS w) WHERE w > 0),
    try_cast(attributes['volume_l'] AS DECIMAL(18, 9)) * try_cast(attributes['density_kg_per_l'] AS DECIMAL(18, 9))) AS weight
FROM active;

-- For each item with a weight the nearest factor of each indicator: its product type's, else that of its closest category
-- with five samples, else that of its closest category.
CREATE TABLE averages AS
SELECT i.iid, f.indicator, f.total, f.samples, f.scope, f.code, f.method, f.year, f.source, f.logs, f.deviation, p.squares, p.degrees,
       w.weight, w.basis AS weight_basis
FROM active i JOIN weights w USING (iid) JOIN factors f ON f.basis = w.basis AND ((f.scope = 'product_type' AND f.code = i.product_type)
    OR (f.scope = 'category' AND starts_with(i.category || '.', f.code || '.')))
LEFT JOIN pooled p ON p.scope = f.scope AND p.indicator = f.indicator
WHERE w.weight > 0
QUALIFY 1 = row_number() OVER (
    PARTITION BY i.iid, f.indicator
    ORDER BY f.scope = 'category', f.scope = 'category' AND f.samples < 5, length(f.code) DESC);
