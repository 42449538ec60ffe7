-- phase: expand
-- What a kilogram of a factor is of: of the article as sold, as consumed, or dry. A factor applies to items whose weight is of
-- the same.

ALTER TABLE factor_claims ADD COLUMN basis text NOT NULL DEFAULT 'as_sold';
ALTER TABLE impact_factors ADD COLUMN basis text NOT NULL DEFAULT 'as_sold';
COMMENT ON COLUMN impact_factors.basis IS 'what its kilogram is of: as_sold, as_consumed, dry; items state it as weight_basis';
