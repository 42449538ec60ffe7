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
    id bigint, indicator text, stage text, per_unit numeric, basis text, method text, as_of date, low numeric, high numeric, deviation numeric,
    pedigree text, reference_year smallint
) ON COMMIT DROP;

-- name: observations
-- Only for months that have rows already; a new month is written straight into its partition.
CREATE TEMP TABLE stage_observations (LIKE observations) ON COMMIT DROP;

-- name: channel
-- Under the lock of events, so no one else inserts the code in between. ON CONFLICT would draw a number for a known one.
WITH known AS (SELECT id FROM channels WHERE code = $1),
added AS (INSERT INTO channels (code) SELECT $1 WHERE NOT EXISTS (SELECT FROM known) RETURNING id)
SELECT id FROM known UNION ALL SELECT id FROM added;
