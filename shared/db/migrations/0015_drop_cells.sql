-- phase: contract
-- The cells that mixed listings and sales; no code reads them any more.
DROP TABLE cells;
DROP FUNCTION forget_month_cells_layout;
