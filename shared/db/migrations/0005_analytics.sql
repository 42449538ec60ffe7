-- phase: expand
-- What the paid reports read instead of ten million rows: one row a cell, its observations packed into arrays.

-- scope  'b' a brand's items · 'c' a category's own items · 't' a category and all below it · 'h' a channel · 'a' everything.
-- Every observation is in one cell of 'b' (id 0: of no brand) and in one of 'c' (id 0: of no category), as it was observed;
-- the other scopes have the counted prices only. An item has one brand and one category, so `items` adds up over cells.
-- Packed columns are arrays of unsigned integers, each as narrow as its largest value allows; workers/rollups/codec.py.
CREATE TABLE cells (
    scope "char" NOT NULL CHECK (scope IN ('b', 'c', 't', 'h', 'a')),
    id integer NOT NULL,
    month date NOT NULL CHECK (extract(day FROM month) = 1),
    currency character(3) NOT NULL,
    n bigint NOT NULL CHECK (n > 0),
    items bigint NOT NULL,
    units bigint NOT NULL,
    days bytea NOT NULL,
    channels bytea NOT NULL,
    prices bytea,
    entries bytea,
    item_ids bytea,
    PRIMARY KEY (scope, id, month, currency)
) WITH (toast_tuple_target = 256);
COMMENT ON COLUMN cells.days IS 'observations on each day of the month, 31 counts';
COMMENT ON COLUMN cells.channels IS 'channel, observations, items, units: one entry a channel';
COMMENT ON COLUMN cells.prices IS 'distinct prices in minor units, ascending, and how often each was observed';
COMMENT ON COLUMN cells.entries IS 'one entry an observation: price, place of the item in item_ids, the other of brand and category, day, channel, units';
-- Packed integers do not compress well enough to pay for it; outside the row they cost nothing to those who do not ask.
ALTER TABLE cells ALTER days SET STORAGE PLAIN, ALTER channels SET STORAGE MAIN, ALTER prices SET STORAGE EXTERNAL,
    ALTER entries SET STORAGE EXTERNAL, ALTER item_ids SET STORAGE EXTERNAL;

GRANT SELECT ON cells TO itemindex_edge, itemindex_worker;
