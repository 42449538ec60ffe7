-- phase: expand
-- The index on (scope, code, indicator, basis) holds in its place.
ALTER TABLE impact_factors DROP CONSTRAINT impact_factors_pkey;
