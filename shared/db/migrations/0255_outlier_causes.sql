-- phase: expand
-- Causes of outliers. `n` remains until the rollups are derived anew, which gives every observation its mark.

ALTER TABLE observations DROP CONSTRAINT observations_outlier_check;
ALTER TABLE observations ADD CONSTRAINT observations_outlier_check CHECK (outlier IN ('d', 'c', 's', 'u', 'o', 'n')) NOT VALID;
COMMENT ON COLUMN observations.outlier IS
    'likely cause of a price that nothing confirms: d unit slip, c currency, s digit swap, u wrong pack, o one-off';
UPDATE derived_layouts SET layout = 6 WHERE name = 'month_cells' AND NOT EXISTS (SELECT FROM data_versions);
