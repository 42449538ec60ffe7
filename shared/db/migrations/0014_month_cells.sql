-- phase: expand
-- The reports' cells anew: listings apart from sales, and list prices beside prices. The old table stays for old code;
-- `itemindex migrate` fills the new one from the observations.

-- scope  'b' a brand's items · 'c' a category's own items · 't' a category and all below it · 'h' a channel · 'a' everything.
-- Every observation is in one cell of 'b' (id 0: of no brand) and in one of 'c' (id 0: of no category), as it was observed;
-- the other scopes have the counted prices only. An item has one brand and one category, so `items` of one kind adds up
-- over cells. Packed columns are arrays of unsigned integers, each as narrow as its largest value allows;
-- workers/rollups/codec.py.
CREATE TABLE month_cells (
    scope "char" NOT NULL CHECK (scope IN ('b', 'c', 't', 'h', 'a')),
    id integer NOT NULL,
    month date NOT NULL CHECK (extract(day FROM month) = 1),
    currency character(3) NOT NULL,
    kind "char" NOT NULL CHECK (kind IN ('l', 's')),
    n bigint NOT NULL CHECK (n > 0),
    items bigint NOT NULL,
    units bigint NOT NULL,
    days bytea NOT NULL,
    channels bytea NOT NULL,
    prices bytea,
    list_prices bytea,
    entries bytea,
    item_ids bytea,
    PRIMARY KEY (scope, id, month, currency, kind)
) WITH (toast_tuple_target = 256);
COMMENT ON COLUMN month_cells.kind IS 'l: listings (offers seen), s: sales';
COMMENT ON COLUMN month_cells.days IS 'observations on each day of the month, 31 counts';
COMMENT ON COLUMN month_cells.channels IS 'channel, observations, items, units: one entry a channel';
COMMENT ON COLUMN month_cells.prices IS 'distinct prices in minor units, ascending, and how often each was observed';
COMMENT ON COLUMN month_cells.list_prices IS
    'distinct pairs of price and list price, ascending, and how often each was observed; only where a list price is known';
COMMENT ON COLUMN month_cells.entries IS
    'one entry an observation: price, place of the item in item_ids, the other of brand and category, day, channel, units, list price or 0';
-- Packed integers do not compress well enough to pay for it; outside the row they cost nothing to those who do not ask.
ALTER TABLE month_cells ALTER days SET STORAGE PLAIN, ALTER channels SET STORAGE MAIN, ALTER prices SET STORAGE EXTERNAL,
    ALTER list_prices SET STORAGE EXTERNAL, ALTER entries SET STORAGE EXTERNAL, ALTER item_ids SET STORAGE EXTERNAL;

-- In which layout derived tables are. Where the code knows another one, it derives them anew before anything reads them.
CREATE TABLE derived_layouts (
    name text PRIMARY KEY,
    layout integer NOT NULL
);
INSERT INTO derived_layouts (name, layout) SELECT 'month_cells', 2 WHERE NOT EXISTS (SELECT FROM data_versions);

-- A load by old code changes only the old cells: from then on the new ones are not up to date, until they are derived anew.
CREATE FUNCTION forget_month_cells_layout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM derived_layouts WHERE name = 'month_cells';
    RETURN NULL;
END $$;
CREATE TRIGGER cells_changed AFTER INSERT OR UPDATE OR DELETE ON cells
    FOR EACH STATEMENT EXECUTE FUNCTION forget_month_cells_layout();

GRANT SELECT ON month_cells, derived_layouts TO itemindex_edge, itemindex_worker, itemindex_analytics;
-- A rollup asks which items have no price at all.
GRANT SELECT ON observations TO itemindex_analytics;
