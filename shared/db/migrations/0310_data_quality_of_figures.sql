-- phase: expand
-- What sources state of the quality of their figures: the scores of the pedigree matrix, and the year to which they assign them.

ALTER TABLE impacts ADD COLUMN pedigree text, ADD COLUMN reference_year smallint,
    ADD CONSTRAINT impacts_quality CHECK (pedigree ~ '^\([1-5](,[1-5]){4}\)$' AND reference_year BETWEEN 1900 AND 2199) NOT VALID;
COMMENT ON COLUMN impacts.pedigree IS 'scores 1 (best) to 5 of the pedigree matrix: reliability, completeness, temporal, geographical, technology';
COMMENT ON COLUMN impacts.reference_year IS 'the year to which the source assigns the figure: its reference period, or the year of its report';

ALTER TABLE factor_claims ADD COLUMN reference_year smallint;
ALTER TABLE impact_factors ADD COLUMN reference_year smallint;
COMMENT ON COLUMN impact_factors.reference_year IS 'the year to which the source assigns the factor';
