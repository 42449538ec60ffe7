-- phase: expand
-- The width of figures: what a source states of its own figure, and the spread of the samples behind a factor.

ALTER TABLE impacts ADD COLUMN low numeric, ADD COLUMN high numeric, ADD COLUMN deviation numeric,
    ADD CONSTRAINT impacts_spread CHECK (low > 0 AND low <= per_unit AND per_unit <= high AND deviation >= 0) NOT VALID;
COMMENT ON COLUMN impacts.low IS 'bounds of the middle 95 % as the source states them; high likewise';
COMMENT ON COLUMN impacts.deviation IS 'standard deviation as the source states it, in the unit of the figure';

-- Without them a factor has one sample, or figures of zero.
ALTER TABLE impact_factors ADD COLUMN log_mean double precision, ADD COLUMN log_deviation double precision;
ALTER TABLE factor_claims ADD COLUMN log_mean double precision, ADD COLUMN log_deviation double precision;
COMMENT ON COLUMN impact_factors.log_mean IS 'mean of the logarithms of the samples, per kilogram';
COMMENT ON COLUMN impact_factors.log_deviation IS 'standard deviation of the logarithms of the samples';
