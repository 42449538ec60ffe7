-- phase: expand
-- Indicators become rows of a table with units, so that a new one needs a row and no new constraint; figures may be
-- given for each stage of a life cycle beside the total; a reject names the column and the value.

CREATE TABLE indicators (
    code text PRIMARY KEY CHECK (code ~ '^[a-z][a-z0-9_]{0,62}$'),
    unit text NOT NULL,
    title text NOT NULL,
    place smallint NOT NULL UNIQUE
);
COMMENT ON COLUMN indicators.place IS 'the order in which answers name them';

INSERT INTO indicators (place, code, unit, title) VALUES
    (1, 'co2e_kg', 'kg CO2e', 'Greenhouse gas emissions'),
    (2, 'water_l', 'l', 'Water consumption'),
    (3, 'waste_kg', 'kg', 'Waste'),
    (4, 'land_use_m2a', 'm²·a', 'Land use'),
    (5, 'acidification_kg_so2e', 'kg SO2e', 'Terrestrial acidification'),
    (6, 'freshwater_eutrophication_kg_pe', 'kg Pe', 'Freshwater eutrophication'),
    (7, 'marine_eutrophication_kg_ne', 'kg Ne', 'Marine eutrophication');

-- Not validated, which would read the tables under a lock: the checks that go allowed only codes that are in the table.
ALTER TABLE impacts DROP CONSTRAINT impacts_indicator_check,
    ADD CONSTRAINT impacts_indicator_fkey FOREIGN KEY (indicator) REFERENCES indicators NOT VALID;
ALTER TABLE impact_factors DROP CONSTRAINT impact_factors_indicator_check,
    ADD CONSTRAINT impact_factors_indicator_fkey FOREIGN KEY (indicator) REFERENCES indicators NOT VALID;

-- What a stage of the life cycle contributes, where a source says so. A credit (recycling, say) is negative; the total in
-- `impacts` is never computed from these rows, because sources list stages incompletely.
CREATE TABLE impact_stages (
    item_id bigint NOT NULL REFERENCES items,
    indicator text NOT NULL REFERENCES indicators,
    stage text NOT NULL CHECK (length(stage) BETWEEN 1 AND 100),
    per_unit numeric NOT NULL,
    basis text NOT NULL CHECK (basis IN ('measured', 'modelled')),
    method text NOT NULL,
    source_id smallint NOT NULL REFERENCES sources,
    as_of date NOT NULL,
    PRIMARY KEY (item_id, indicator, stage)
);

GRANT SELECT ON indicators, impact_stages TO itemindex_edge, itemindex_worker, itemindex_analytics;

-- A reject names the column and the value that could not be used, and whether it cost the row or only the field.
ALTER TABLE rejects ADD COLUMN column_name text, ADD COLUMN value text,
    ADD COLUMN scope text NOT NULL DEFAULT 'row' CHECK (scope IN ('row', 'field'));
COMMENT ON COLUMN rejects.value IS 'the text as the file has it, cut to a bounded length';
