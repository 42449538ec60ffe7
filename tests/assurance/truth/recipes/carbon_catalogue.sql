-- The Carbon Catalogue: one product a row, with the footprint that its maker reported. A year stands for its last day.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq,
       make_date("Year of reporting"::INTEGER, 12, 31) AS day, clean("*PCF-ID") AS id
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

INSERT INTO sources VALUES ('carbon_catalogue', 'CC0-1.0');

INSERT INTO texts BY NAME
SELECT 'carbon_catalogue' AS source, id AS item, seq, clean("Product name (and functional unit)") AS name,
       clean("Company") AS brand, [clean("*Company's sector"), clean("Company's GICS Industry Group")] AS category,
       nullif(clean("Company's GICS Industry"), 'Not used for 2015 reporting') AS product_type,
       [{scheme: 'source', value: id}] AS identifiers, MAP {
           'description': nullif(clean("Product detail"), 'Field not included in 2013 data'),
           'weight_kg': clean("Product weight (kg)"), 'country': clean("Country (where company is incorporated)"),
           'carbon_intensity': clean("*Carbon intensity")} AS attributes, day
FROM file;

INSERT INTO figures
SELECT 'carbon_catalogue', id, seq, 'co2e_kg', "Product's carbon footprint (PCF, kg CO2e)"::DECIMAL(38, 20), 'modelled',
       'product carbon footprint as the company reported it, cradle to grave where stated', day, NULL, "Year of reporting"::INTEGER
FROM file;
