-- phase: expand
-- One price a month for each item of a brand's or category's cell: price indices read these instead of observations.

ALTER TABLE month_cells ADD COLUMN item_prices bytea;
COMMENT ON COLUMN month_cells.item_prices IS
    'item, price (bits of a double, minor units), units sold: one entry an item; sales: unit value, listings: geometric mean and no units';
ALTER TABLE month_cells ALTER item_prices SET STORAGE EXTERNAL;

-- An index without data has all cells in the new layout; any other is derived anew by `itemindex migrate`.
UPDATE derived_layouts SET layout = 3 WHERE name = 'month_cells' AND NOT EXISTS (SELECT FROM data_versions);
