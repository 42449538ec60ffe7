-- name: items
-- Temporary: it ends with the transaction, so a killed load leaves no trace. Its rows, and those of the next tables, lie in the
-- order of the load: COPY adds to the end of a table that its own transaction has made.
CREATE TEMP TABLE stage_items (
    id bigint, iid text, source_item_id text, name text, alt_names text[],
    brand_slug text, brand_name text, brand_folded text, category_code text, category_path text[], product_type text,
    identifiers jsonb, attributes jsonb, content_hash bigint
) ON COMMIT DROP;

-- name: spans
-- From when to when the load speaks of each item.
CREATE TEMP TABLE stage_spans (id bigint, first_day date, last_day date) ON COMMIT DROP;

-- name: impacts
-- An item's own figures, beside it; null where its newest row has none, so that no older row's is taken for it.
-- Without a stage: the total; with one, the contribution of that stage of the life cycle.
CREATE TEMP TABLE stage_impacts (
    id bigint, indicator text, stage text, per_unit numeric, basis text, method text, as_of date, low numeric, high numeric, deviation numeric
) ON COMMIT DROP;

-- name: observations
-- Only for months that have rows already; a new month is written straight into its partition.
CREATE TEMP TABLE stage_observations (LIKE observations) ON COMMIT DROP;

-- name: months
-- The months that have a partition.
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'observations'::regclass;

-- name: number_equal
-- Equal events of different batches: numbered on, so that each counts. The lowest 16 bits of a mark are the number.
WITH numbered AS (
    SELECT ctid AS row, row_number() OVER (PARTITION BY item_id, day, mark >> 16 ORDER BY mark, ctid) - 1 AS n
    FROM {table})
UPDATE {table} o SET mark = (o.mark >> 16 << 16) | least(numbered.n, 65535)
FROM numbered WHERE o.ctid = numbered.row AND o.mark & 65535 <> numbered.n;

-- name: drop_superseded
-- The same state stated twice in one load: the later row is kept.
DELETE FROM {table} o USING (
    SELECT ctid AS row, row_number() OVER (PARTITION BY item_id, day, mark ORDER BY ctid DESC) AS n
    FROM {table}) d
WHERE o.ctid = d.row AND d.n > 1;
