-- name: newest
-- Of the very snapshot that the report reads, whatever the job was made for: an answer says what it was made from. And
-- whether the rollups are in the layout $1 that the code reads: right after an upgrade they may not be yet.
SELECT coalesce(max(version), 0) AS version,
       EXISTS (SELECT FROM derived_layouts WHERE name = 'month_cells' AND layout = $1::integer) AS readable
FROM data_versions;

-- name: brands
-- Slugs to ids.
SELECT id, slug FROM brands WHERE slug = ANY($1::text[]);

-- name: brand_names
-- Ids back to slugs and names, for the rows of an answer.
SELECT id, slug, name FROM brands WHERE id = ANY($1::integer[]);

-- name: categories
-- The whole tree; it is small, and a code's descendants are found by its text.
SELECT id, code, path FROM categories;

-- name: channels
-- All of them: an answer names each channel that it meets.
SELECT id, code FROM channels;

-- name: days
-- How many observations each day has of what was asked for: the default window ends on the last one with enough.
SELECT month, days FROM month_cells
WHERE scope = $1::text::"char" AND id = ANY($2::integer[]) AND ($3::text IS NULL OR currency = $3)
  AND (cardinality($4::text[]) = 0 OR kind = ANY ($4::text[]::"char"[]));

-- name: any_in_index
-- Whether the whole index has anything in a range of months: one row, whatever else is in it.
SELECT 1 FROM month_cells
WHERE scope = 'a' AND id = 0 AND month BETWEEN $1 AND $2 AND ($3::text IS NULL OR currency = $3) AND kind = ANY ($4::text[]::"char"[])
LIMIT 1;

-- name: item_counts
-- How many items and observations the brands or categories of some months have, on which days and in which channels.
SELECT id, month, currency, kind, n, items, days, CASE WHEN $5::boolean THEN channels END FROM month_cells
WHERE scope = $1::text::"char" AND id <> 0 AND month = ANY($2::date[]) AND ($3::text IS NULL OR currency = $3)
  AND kind = ANY ($4::text[]::"char"[]);

-- name: items_and_entries
-- Which items some brands or categories of a month have, and of some of them their single observations.
SELECT id, currency, kind, item_ids, CASE WHEN id = ANY($6::integer[]) THEN entries END FROM month_cells
WHERE scope = $1::text::"char" AND month = $2 AND id = ANY($3::integer[]) AND ($4::text IS NULL OR currency = $4)
  AND kind = ANY ($5::text[]::"char"[]);

-- name: kinds
-- In which months there are listings, in which there are sales.
SELECT month, kind, days FROM month_cells
WHERE scope = $1::text::"char" AND id = ANY($2::integer[]) AND month BETWEEN $3 AND $4
  AND ($5::text IS NULL OR currency = $5);

-- name: spreads
-- Rollups of whole months: counts and counted prices.
SELECT id, month, currency, items, days, channels, prices, list_prices FROM month_cells
WHERE scope = $1::text::"char" AND month = ANY($2::date[]) AND id = ANY($3::integer[]) AND ($4::text IS NULL OR currency = $4)
  AND kind = ANY ($5::text[]::"char"[])
ORDER BY month, currency, id;

-- name: entries
-- A month's single observations, packed: for days, channels, and questions that cross brand and category. The items'
-- ids are nearly half of the bytes, and few statistics need more than how many there are.
SELECT id, currency, entries, CASE WHEN $6::boolean THEN item_ids END, octet_length(item_ids) / 8 FROM month_cells
WHERE scope = $1::text::"char" AND month = $2 AND id = ANY($3::integer[]) AND ($4::text IS NULL OR currency = $4)
  AND kind = ANY ($5::text[]::"char"[])
ORDER BY currency, id;

-- name: figures
-- Finished figures of whole months by channel or by category; where a rollup lacks them, its entries must be read.
SELECT id, month, currency, days, CASE WHEN $6::text = 'channel' THEN by_channel ELSE by_category END FROM month_cells
WHERE scope = $1::text::"char" AND month = ANY($2::date[]) AND id = ANY($3::integer[]) AND ($4::text IS NULL OR currency = $4)
  AND kind = ANY ($5::text[]::"char"[])
ORDER BY month, currency, id;

-- name: counts
-- How many observations whole months have, and what says of which channel or category each is.
SELECT id, month, currency, n, CASE $7::text WHEN 'channel' THEN channels WHEN 'category' THEN entries END FROM month_cells
WHERE scope = $1::text::"char" AND id = ANY($2::integer[]) AND month BETWEEN $3 AND $4
  AND ($5::text IS NULL OR currency = $5) AND kind = ANY ($6::text[]::"char"[]);

-- name: own_figures
-- Figures that were measured or modelled for the item itself.
SELECT p.item_id, p.indicator, p.per_unit::float8, p.basis, p.low::float8, p.high::float8, p.deviation::float8, p.pedigree
FROM impacts p JOIN items i ON i.id = p.item_id
WHERE i.status = 'active' AND ($1::integer[] IS NULL OR i.brand_id = ANY($1)) AND ($2::integer[] IS NULL OR i.category_id = ANY($2));

-- name: own_stages
-- What stages of the life cycle contribute to such figures.
SELECT t.indicator, t.stage, t.item_id, t.per_unit::float8 FROM impact_stages t JOIN items i ON i.id = t.item_id
WHERE i.status = 'active' AND ($1::integer[] IS NULL OR i.brand_id = ANY($1)) AND ($2::integer[] IS NULL OR i.category_id = ANY($2))
  AND EXISTS (SELECT FROM impacts p WHERE p.item_id = t.item_id AND p.indicator = t.indicator)
ORDER BY t.indicator, t.stage COLLATE "C";

-- name: unpriced_items
-- Items with figures of their own and no price: they are in the assortment too, from the day they were first seen on.
SELECT i.id, coalesce(i.brand_id, 0), coalesce(i.category_id, 0), i.first_seen_on FROM items i
WHERE i.status = 'active' AND i.first_seen_on <= $3::date AND EXISTS (SELECT FROM impacts p WHERE p.item_id = i.id)
  AND NOT EXISTS (SELECT FROM observations o WHERE o.item_id = i.id)
  AND NOT EXISTS (SELECT FROM inactive_items x JOIN observations o ON o.item_id = x.item_id WHERE x.owner_id = i.id)
  AND ($1::integer[] IS NULL OR i.brand_id = ANY($1)) AND ($2::integer[] IS NULL OR i.category_id = ANY($2))
ORDER BY i.id;

-- name: factors
-- Factors per kilogram, for items without a figure of their own.
SELECT scope, basis, code, indicator, per_kg::float8, samples, log_samples, log_deviation FROM impact_factors
ORDER BY scope, basis, code, indicator;

-- name: factor_origins
-- The same factors in the same order, with where they come from.
SELECT f.scope, f.code, f.basis, s.name, f.method, f.reference_year FROM impact_factors f JOIN sources s ON s.id = f.source_id
ORDER BY f.scope, f.basis, f.code, f.indicator;

-- name: own_origins
-- Where items' own figures of an indicator come from, and what their sources state of the data.
SELECT p.item_id, s.name, p.method, p.pedigree, p.reference_year
FROM impacts p JOIN items i ON i.id = p.item_id JOIN sources s ON s.id = p.source_id
WHERE i.status = 'active' AND ($1::integer[] IS NULL OR i.brand_id = ANY($1)) AND ($2::integer[] IS NULL OR i.category_id = ANY($2))
  AND p.indicator = $3;

-- name: item_sizes
-- Brand, category and weight of the items of a comparison.
SELECT id, coalesce(brand_id, 0), coalesce(category_id, 0), coalesce(attributes ->> 'weight_basis', 'as_sold'),
       attributes ->> 'weight_kg', attributes ->> 'volume_l', attributes ->> 'density_kg_per_l'
FROM items WHERE id = ANY($1::bigint[]);

-- name: iids
-- Names the items that a sum owes most to.
SELECT id, iid FROM items WHERE id = ANY($1::bigint[]);

-- name: items_by_key
-- The items that IIDs mean, with their categories, 0 for none: a merged item is its survivor, a withdrawn one nothing.
SELECT i.id, o.id, coalesce(o.category_id, 0) FROM items i LEFT JOIN inactive_items x ON x.item_id = i.id
JOIN items o ON o.id = CASE WHEN x.item_id IS NULL THEN i.id ELSE x.owner_id END
WHERE i.id = ANY($1::bigint[]);

-- name: named_items
-- Items that an answer names.
SELECT id, iid, name FROM items WHERE id = ANY($1::bigint[]);

-- name: weighed_items
-- Items that a factor reaches, if they have a weight, or a volume and a density: the others need not be read at all.
SELECT id, product_type, coalesce(category_id, 0), coalesce(attributes ->> 'weight_basis', 'as_sold'),
       attributes ->> 'weight_kg', attributes ->> 'volume_l', attributes ->> 'density_kg_per_l' FROM items
WHERE status = 'active' AND (attributes ? 'weight_kg' OR attributes ?& '{volume_l,density_kg_per_l}') AND (product_type = ANY($3::text[]) OR category_id = ANY($4::integer[]))
  AND ($1::integer[] IS NULL OR brand_id = ANY($1)) AND ($2::integer[] IS NULL OR category_id = ANY($2));

-- name: item_prices
-- Whole months of one price an item, which an index compares, without its observations.
SELECT id, month, currency, item_prices FROM month_cells
WHERE scope = $1::text::"char" AND month = ANY($2::date[]) AND id = ANY($3::integer[]) AND ($4::text IS NULL OR currency = $4)
  AND kind = ANY ($5::text[]::"char"[])
ORDER BY month, currency, id;

-- name: data_version
-- Of the snapshot that is read; a bootstrap's seed depends on it.
SELECT coalesce(max(version), 0) FROM data_versions;

-- name: groups_of_items
-- The brand and category of items whose prices are compared over channels, 0 where an item has none, and their names.
SELECT id, coalesce(brand_id, 0), coalesce(category_id, 0), iid FROM items WHERE id = ANY($1::bigint[]) ORDER BY id;

-- name: weights
-- The version of a table of weights that a report names by its id; none once it is deleted.
SELECT name, version, price_reference, sha256, table_rows FROM weight_tables WHERE id = $1::uuid AND deleted_at IS NULL;
