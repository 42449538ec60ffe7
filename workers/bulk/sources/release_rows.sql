-- name: months
-- How many rows each month has, from the rollups: every observation is in one rollup of a brand, so nothing is counted anew.
SELECT month, sum(n)::bigint FROM month_cells WHERE scope = 'b' GROUP BY month ORDER BY month;

-- name: identities
-- Every item whose observations are in the files, with the IID that they have there, in its order; the bytes of the IIDs, not
-- a locale, decide it.
SELECT id, iid, id AS owner_id FROM items WHERE status = 'active'
UNION ALL SELECT x.item_id, i.iid, i.id FROM inactive_items x JOIN items i ON i.id = x.owner_id
ORDER BY iid, id;

-- name: observations
-- Columns of fixed width only, so that rows can be read as one array. No order: sorting columns costs less here than there.
SELECT item_id, price_minor, coalesce(list_minor, -1), day, channel_id, units, source_id, kind, currency,
       coalesce(outlier, '-')
FROM observations WHERE day >= $1::date AND day < $2::date;

-- name: items
-- As CSV, where null is nothing and an empty text is in quotes; lists are joined by a character that no name has.
SELECT i.iid, i.name, nullif(array_to_string(i.alt_names, U&'\001F'), ''), i.status, i.survivor_iid, b.name, b.slug, c.code,
       i.product_type, i.identifiers, i.attributes, i.version, i.first_seen_on, i.updated_at AT TIME ZONE 'UTC',
       (SELECT coalesce(jsonb_agg(jsonb_build_object('source', s.name, 'id', t.source_item_id, 'license', s.license, 'observed_at',
               to_char(t.observed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
               ORDER BY s.name COLLATE "C", t.source_item_id COLLATE "C"), '[]')
        FROM item_sources t JOIN sources s ON s.id = t.source_id
        WHERE t.item_id = ANY(ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id)))
FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id
WHERE i.status <> 'withdrawn' ORDER BY i.iid;

-- name: impacts
-- Own figures only: a substitute for a missing one is the service's estimate, not data.
SELECT i.iid, m.indicator, m.per_unit, m.basis, m.method, s.name, m.as_of, m.pedigree, m.reference_year
FROM impacts m JOIN items i ON i.id = m.item_id JOIN sources s ON s.id = m.source_id
WHERE i.status = 'active' ORDER BY i.iid, m.indicator;

-- name: training_pairs
-- What people decided comes before what the service linked. Of a decision the pair and the answer are released: who
-- decided, and the reason, are the operator's own. A pair is in a split only with both survivors, else one of them would
-- be in two.
WITH said AS (
    SELECT least(item_id, survivor_id) AS left_id, greatest(item_id, survivor_id) AS right_id,
           kind <> 'separation' AS same, CASE kind WHEN 'merge' THEN 'merge' ELSE 'review' END AS known_by, no
    FROM events WHERE kind IN ('link', 'separation', 'merge') AND undone_at IS NULL
    UNION ALL SELECT left_id, right_id, true, kind, -1 FROM links WHERE decision = 'link'),
known AS (
    SELECT DISTINCT ON (left_id, right_id) left_id, right_id, same, known_by FROM said ORDER BY left_id, right_id, no DESC),
survivors AS (
    SELECT id AS item_id, iid, iid AS survivor_iid FROM items WHERE status = 'active'
    UNION ALL SELECT x.item_id, i.iid, o.iid FROM inactive_items x JOIN items i ON i.id = x.item_id
    JOIN items o ON o.id = x.owner_id AND o.status = 'active')
SELECT a.iid, b.iid, CASE WHEN k.same THEN 'match' ELSE 'no_match' END, k.known_by, l.score, a.survivor_iid, b.survivor_iid,
       CASE WHEN split_of_item(a.survivor_iid) = split_of_item(b.survivor_iid) THEN split_of_item(a.survivor_iid) END
FROM known k JOIN survivors a ON a.item_id = k.left_id JOIN survivors b ON b.item_id = k.right_id
LEFT JOIN links l USING (left_id, right_id)
WHERE k.known_by IN ('review', 'merge') OR a.survivor_iid = b.survivor_iid
ORDER BY a.iid, b.iid;

-- name: cards
-- $1, $2: currencies that do not have two decimals, and how many they have. Nothing in a card says when it was made: one
-- whose item did not change is the same row in the next release. Observations later than the data_version's day are of
-- its future. Listings and sales are never mixed. The prices are added up once: after a first load, before PostgreSQL has statistics, it expects one item and
-- would add all of them up again for each.
WITH prices AS (
    SELECT coalesce(x.owner_id, o.item_id) AS item_id, o.currency::text AS currency, o.kind, count(*) AS n, min(o.price_minor) AS low,
           max(o.price_minor) AS high, max(ARRAY[o.day - date '1970-01-01', -o.price_minor]) AS last
    FROM observations o LEFT JOIN inactive_items x ON x.item_id = o.item_id
    WHERE o.outlier IS NULL AND o.day <= (SELECT max(committed_at AT TIME ZONE 'UTC')::date FROM data_versions)
    GROUP BY 1, 2, 3),
priced AS MATERIALIZED (
    SELECT p.item_id, jsonb_agg(jsonb_build_object('currency', p.currency, 'kind', k.kind, 'observations', p.n, 'low', a.low,
               'high', a.high, 'last_day', a.last_day, 'last', a.last) ORDER BY p.currency, k.kind) AS prices,
           string_agg(format('%s in %s: %s on %s, %s to %s in %s observations', k.title, p.currency, a.last, a.last_day, a.low,
               a.high, p.n), E'\n' ORDER BY p.currency, k.kind) AS text
    FROM prices p JOIN (VALUES ('l'::"char", 'listing', 'Price'), ('s', 'sale', 'Sale price')) k (letter, kind, title) ON k.letter = p.kind,
    LATERAL (SELECT coalesce(($2::int[])[array_position($1::text[], p.currency)], 2) AS digits) d,
    LATERAL (SELECT round(p.low / 10::numeric ^ d.digits, d.digits)::text AS low,
                    round(p.high / 10::numeric ^ d.digits, d.digits)::text AS high,
                    round(-p.last[2] / 10::numeric ^ d.digits, d.digits)::text AS last,
                    date '1970-01-01' + p.last[1]::integer AS last_day) a
    GROUP BY p.item_id)
SELECT i.iid, i.name, b.name, c.code, array_to_string(c.path, U&'\001F'), i.attributes, coalesce(p.prices, '[]'),
       concat_ws(E'\n', i.name, 'Brand: ' || b.name, 'Category: ' || array_to_string(c.path, ' > '),
           (SELECT string_agg(format('%s: %s', key, value), E'\n' ORDER BY key COLLATE "C") FROM jsonb_each_text(i.attributes)),
           p.text),
       split_of_item(i.iid)
FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id
LEFT JOIN priced p ON p.item_id = i.id
WHERE i.status = 'active' ORDER BY i.iid;
