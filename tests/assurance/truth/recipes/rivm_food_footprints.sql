-- RIVM: footprints of foods per kilogram; a food group stands for categories of the index. Water is in cubic metres.
CREATE OR REPLACE TEMP TABLE file AS
SELECT clean(product_group_nl) AS food_group, clean(gwp_kg_co2e)::DECIMAL(38, 24) AS co2e_kg,
       clean(water_m3)::DECIMAL(38, 24) * 1000 AS water_l, clean(land_use_m2a)::DECIMAL(38, 24) AS land_use_m2a,
       clean(acidification_kg_so2e)::DECIMAL(38, 24) AS acidification_kg_so2e, row_number() OVER () + 1 AS line
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

CREATE OR REPLACE TEMP TABLE crosswalk AS SELECT * FROM (VALUES
    ('Groente', 'rice-oil-canned-food-fruits-vegetables-meat.fresh-vegetables'),
    ('Groente', 'rice-oil-canned-food-fruits-vegetables-meat.frozen-vegetables'),
    ('Fruit', 'rice-oil-canned-food-fruits-vegetables-meat.fresh-fruits'),
    ('Fruit', 'candies-biscuits-snacks.dried-fruits'),
    ('Vis', 'rice-oil-canned-food-fruits-vegetables-meat.frozen-seafood'),
    ('Vlees en gevogelte', 'rice-oil-canned-food-fruits-vegetables-meat.chilled-fresh-meat'),
    ('Vlees en gevogelte', 'rice-oil-canned-food-fruits-vegetables-meat.frozen-meat-poultry'),
    ('Niet-alcoholische dranken', 'drinks'),
    ('Melk en melkproducten', 'dairy-soy-products-eggs.milk-milk-drinks'),
    ('Melk en melkproducten', 'dairy-soy-products-eggs.cream'),
    ('Suiker, snoep, zoet beleg en zoete sauzen', 'candies-biscuits-snacks.candies-confectioneries'),
    ('Suiker, snoep, zoet beleg en zoete sauzen', 'bakery-cereals-spreads.spreads'),
    ('Suiker, snoep, zoet beleg en zoete sauzen', 'bakery-cereals-spreads.honey-syrup'),
    ('Brood', 'bakery-cereals-spreads.breads'),
    ('Gebak en koek', 'bakery-cereals-spreads.cakes'),
    ('Gebak en koek', 'candies-biscuits-snacks.biscuits'),
    ('Graanproducten en bindmiddelen', 'rice-oil-canned-food-fruits-vegetables-meat.rice'),
    ('Graanproducten en bindmiddelen', 'noodles-cooking-needs-processed-food-cold.non-instant-italian-pasta'),
    ('Graanproducten en bindmiddelen', 'noodles-cooking-needs-processed-food-cold.non-instant-oriental-noodles'),
    ('Graanproducten en bindmiddelen', 'bakery-cereals-spreads.breakfast-cereals'),
    ('Melk en melkproducten', 'dairy-soy-products-eggs.cheese-yoghurt-products.yoghurt'),
    ('Melk en melkproducten', 'dairy-soy-products-eggs.cheese-yoghurt-products.yoghurt-drinks-lactic-drinks'),
    ('Melk en melkproducten', 'dairy-soy-products-eggs.cheese-yoghurt-products.yoghurt-flavour-drinks'),
    ('Kaas', 'dairy-soy-products-eggs.cheese-yoghurt-products.cheese-slices-shredded-cheese-hard-cheese'),
    ('Kaas', 'dairy-soy-products-eggs.cheese-yoghurt-products.cheese-spreads-cheese-snacks'),
    ('Vetten en oliën', 'rice-oil-canned-food-fruits-vegetables-meat.edible-oil-cooking-oil'),
    ('Vetten en oliën', 'dairy-soy-products-eggs.butter-margarine'),
    ('Vleesvervangers en zuivelvervangers', 'dairy-soy-products-eggs.bean-curd-products'),
    ('Alcoholische dranken', 'beer-wines-spirits'),
    ('Hartige sauzen', 'noodles-cooking-needs-processed-food-cold.condiments-sauces-cooking-needs'),
    ('Hartige snacks en zoutjes', 'candies-biscuits-snacks.snacks'),
    ('Eieren', 'dairy-soy-products-eggs.eggs')) t(food_group, code);

INSERT INTO sources VALUES ('rivm_food_footprints', 'CC-BY-4.0');
INSERT INTO refused
SELECT 'rivm_food_footprints', 'rivm_food_footprints.csv', line FROM file ANTI JOIN crosswalk USING (food_group);

INSERT INTO factor_rows
SELECT 'rivm_food_footprints', 'category', code, indicator, value,
       'mean of the food group, cradle to consumption, per kilogram (RIVM 2021)', 'as_consumed', 2021
FROM file JOIN crosswalk USING (food_group)
CROSS JOIN LATERAL (VALUES ('co2e_kg', co2e_kg), ('water_l', water_l), ('land_use_m2a', land_use_m2a),
                           ('acidification_kg_so2e', acidification_kg_so2e)) f(indicator, value) WHERE value IS NOT NULL;
