-- phase: expand
-- Which observations statistics set aside, and why. Derived from the observations like the cells, in the same transaction.

ALTER TABLE observations ADD COLUMN outlier "char";
ALTER TABLE observations ADD CONSTRAINT observations_outlier_check CHECK (outlier IN ('d', 'c', 'u', 'n', 'o')) NOT VALID;
COMMENT ON COLUMN observations.outlier IS
    'likely cause of a price that its neighbours contradict: d digit shift, c currency, u unit price, n neighbours, o other channels';

-- What is set aside has cells of its own, so that the others are as they would be without it. Old code asks for `l` and `s`.
ALTER TABLE month_cells DROP CONSTRAINT month_cells_kind_check;
ALTER TABLE month_cells ADD CONSTRAINT month_cells_kind_check CHECK (kind IN ('l', 's', 'L', 'S')) NOT VALID;
COMMENT ON COLUMN month_cells.kind IS 'l: listings (offers seen), s: sales; L, S: those of them that are set aside as outliers';
UPDATE derived_layouts SET layout = 4 WHERE name = 'month_cells' AND NOT EXISTS (SELECT FROM data_versions);
