-- phase: expand
-- The finished figures of a large rollup's groups: a month by channel or by category need not sort its observations.

ALTER TABLE month_cells ADD COLUMN by_channel bytea, ADD COLUMN by_category bytea;
COMMENT ON COLUMN month_cells.by_channel IS
    'figures of each channel, where there are many observations for each: items, days, prices, discounts, channels';
COMMENT ON COLUMN month_cells.by_category IS 'the same of each category of a brand';
ALTER TABLE month_cells ALTER by_channel SET STORAGE EXTERNAL, ALTER by_category SET STORAGE EXTERNAL;

-- An index without data has all rollups in the new layout; any other is derived anew by `itemindex migrate`.
UPDATE derived_layouts SET layout = 5 WHERE name = 'month_cells' AND NOT EXISTS (SELECT FROM data_versions);
