-- Factors: the mean of a code's rows.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, regexp_full_match(co2, '[0-9]+(\.[0-9]+)?') AS usable
FROM (SELECT *, row_number() OVER () AS number FROM read_csv(getvariable('file'), header = true, all_varchar = true));

INSERT INTO sources VALUES ('generated_factors', 'CC0-1.0');
INSERT INTO refused SELECT 'generated_factors', 'generated_factors.csv', number + 1 FROM file WHERE NOT usable;

INSERT INTO factor_rows
SELECT 'generated_factors', 'category', code, indicator, value::DECIMAL(38, 24), 'mean of nothing real', 'as_sold', NULL
FROM file CROSS JOIN LATERAL (VALUES ('co2e_kg', co2), ('water_l', water)) f(indicator, value) WHERE usable;
