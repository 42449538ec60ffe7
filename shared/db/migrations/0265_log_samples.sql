-- phase: expand
-- How many samples of a factor have a logarithm, by which their spread counts: those above 0.

ALTER TABLE factor_claims ADD COLUMN log_samples integer;
ALTER TABLE impact_factors ADD COLUMN log_samples integer;
COMMENT ON COLUMN impact_factors.log_samples IS 'how many samples have a logarithm: those above 0';

-- Factors written before have a spread only where every sample is above 0.
UPDATE factor_claims SET log_samples = samples WHERE log_deviation IS NOT NULL;
UPDATE impact_factors SET log_samples = samples WHERE log_deviation IS NOT NULL;
