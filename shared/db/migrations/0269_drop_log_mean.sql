-- phase: contract
-- The mean of a factor's logarithms decided its median; the median of a log-normal follows from the mean and the spread.

ALTER TABLE factor_claims DROP COLUMN log_mean;
ALTER TABLE impact_factors DROP COLUMN log_mean;
-- Workers of the release before wrote no number of logarithms.
UPDATE factor_claims SET log_samples = samples WHERE log_samples IS NULL AND log_deviation IS NOT NULL;
UPDATE impact_factors SET log_samples = samples WHERE log_samples IS NULL AND log_deviation IS NOT NULL;
