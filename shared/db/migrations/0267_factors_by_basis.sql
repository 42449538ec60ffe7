-- phase: expand
-- One code may have a factor of each basis: this takes the place of the primary key.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS impact_factors_by_basis ON impact_factors (scope, code, indicator, basis);
