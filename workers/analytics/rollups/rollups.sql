-- name: touched
-- Which items changed in which month; temporary, because it belongs to one load.
CREATE TEMP TABLE touched_items (item_id bigint, month date, PRIMARY KEY (item_id, month)) ON COMMIT DROP;

-- name: touched_together
-- Items that share a record are taken out and put in together.
INSERT INTO touched_items
WITH owned AS (
    SELECT DISTINCT coalesce(x.owner_id, t.item_id) AS owner_id, t.month
    FROM touched_items t LEFT JOIN inactive_items x USING (item_id))
SELECT owner_id, month FROM owned
UNION SELECT x.item_id, o.month FROM owned o JOIN inactive_items x ON x.owner_id = o.owner_id
ON CONFLICT (item_id, month) DO NOTHING;

-- name: analyze_touched
-- The planner would take a table that it knows nothing of for a large one.
ANALYZE touched_items;

-- name: months
-- The rollups to refresh, month by month.
SELECT DISTINCT month FROM touched_items;

-- name: touched_items
-- The items of a month whose entries must be taken out before they are put in anew.
SELECT item_id FROM touched_items WHERE month = $1;

-- name: rows_of_touched
-- Every observation of the month's touched items, in columns of fixed width.
SELECT o.item_id, o.price_minor, o.day, o.channel_id, o.units, o.currency, o.kind,
       coalesce(o.list_minor, 0), coalesce(o.outlier, '-')
FROM {table} o
WHERE EXISTS (SELECT FROM touched_items t WHERE t.item_id = o.item_id AND t.month = date_trunc('month', o.day)::date);

-- name: rows_of_month
-- A month that is all new is read whole; a semi-join would only cost.
SELECT o.item_id, o.price_minor, o.day, o.channel_id, o.units, o.currency, o.kind,
       coalesce(o.list_minor, 0), coalesce(o.outlier, '-')
FROM {table} o;

-- name: mark_outliers
-- By what makes observations alike to the rule: rows that are equal in it have equal marks. Answers have counted the
-- observations of earlier events ($8: the present one) by their former mark, so callers are sent both marks.
WITH changed AS (
    UPDATE {table} o SET outlier = nullif(f.outlier, '-')::"char"
    FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::date[], $5::text[], $6::text[], $7::text[], $9::text[])
         AS f (item_id, channel_id, price_minor, day, currency, kind, outlier, before)
    WHERE o.item_id = f.item_id AND o.day = f.day AND o.channel_id = f.channel_id AND o.price_minor = f.price_minor
      AND o.currency = f.currency AND o.kind = f.kind::"char"
    RETURNING o.item_id, o.day, o.channel_id, o.kind, o.currency, o.price_minor, o.load_no, f.before, f.outlier AS after),
earlier AS (
    SELECT *, row_number() OVER (ORDER BY item_id, day, channel_id, price_minor) AS place FROM changed WHERE load_no <> $8)
INSERT INTO event_log (type, data)
SELECT 'outliers.changed', jsonb_build_object(
           'month', to_char(min(e.day), 'YYYY-MM'), 'observations', count(*),
           'changes', jsonb_agg(jsonb_build_object(
               'iid', i.iid, 'day', e.day, 'channel', h.code, 'kind', CASE e.kind WHEN 's' THEN 'sale' ELSE 'listing' END,
               'currency', e.currency, 'price_minor', e.price_minor, 'before', $10::jsonb -> e.before, 'after', $10::jsonb -> e.after)
               ORDER BY e.place) FILTER (WHERE e.place <= 100))
FROM earlier e JOIN items i ON i.id = e.item_id JOIN channels h ON h.id = e.channel_id
HAVING count(*) > 0;

-- name: every_item
-- For a rebuild: where each item belongs; nothing is known of before.
SELECT i.id, CASE WHEN x.item_id IS NULL THEN i.id ELSE coalesce(x.owner_id, -1) END, coalesce(o.brand_id, 0),
       coalesce(o.category_id, 0), 0, 0
FROM items i LEFT JOIN inactive_items x ON x.item_id = i.id JOIN items o ON o.id = coalesce(x.owner_id, i.id);

-- name: categories
-- To find the categories above a category.
SELECT id, code FROM categories;

-- name: rollups_with_entries
-- The rollups that hold the touched items now.
SELECT id, currency, kind, entries, item_ids FROM month_cells
WHERE scope = $1::text::"char" AND month = $2 AND id = ANY($3::integer[]);

-- name: rollups_with_prices
-- The larger rollups, which are changed by what was taken out and put in.
SELECT id, currency, kind, n, items, units, days, channels, prices, list_prices FROM month_cells
WHERE scope = $1::text::"char" AND month = $2 AND id = ANY($3::integer[]);

-- name: clear_rollups
-- Rollups are deleted before they are written anew, so that none that became empty remains.
DELETE FROM month_cells WHERE scope = $1::text::"char" AND month = $2 AND id = ANY($3::integer[]);

-- name: clear_all
-- A rebuild begins with nothing. Readers keep their snapshot, which TRUNCATE would take from them.
DELETE FROM month_cells;

-- name: partitions
-- The months that have observations.
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'observations'::regclass ORDER BY c.relname;

-- name: layout
-- Which layout the rollups are in; no row: they were never derived in any that is known here.
SELECT layout FROM derived_layouts WHERE name = 'month_cells';

-- name: keep_layout
-- In the transaction of the rebuild: the rollups are of this layout exactly when they are committed.
INSERT INTO derived_layouts (name, layout) VALUES ('month_cells', $1)
ON CONFLICT (name) DO UPDATE SET layout = excluded.layout;
