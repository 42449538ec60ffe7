-- Online Price Watch: each row is a shelf price of a day; the last row of a product names it.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

-- Chinese names lie beside the prices: an object by product code, of which brand and name make the other name.
CREATE OR REPLACE TEMP TABLE chinese AS
SELECT t.key AS code, trim(concat_ws(' ', t.value ->> '$.brand', t.value ->> '$.name')) AS name
FROM (SELECT unnest(map_entries(content::JSON::MAP(VARCHAR, JSON)), recursive := true)
      FROM read_text(getvariable('folder') || '/names_tc.json')) t;

-- What is consumed as it is sold, by its second and third category; and what a litre of it weighs.
CREATE OR REPLACE TEMP MACRO eaten_as_sold(two, three) AS
    two IN ('Breads', 'Cakes', 'Honey / Syrup', 'Spreads', 'Biscuits', 'Candies / Confectioneries', 'Dried fruits', 'Snacks',
            'Butter / Margarine', 'Cheese / Yoghurt products', 'Cream', 'Edible oil / Cooking oil', 'Beer', 'Shandy',
            'Red wines', 'White wines', 'Rice wines', 'Shaoxing wines', 'Carbonated drinks',
            'Bottled water / Sports drinks /  Energy drinks')
    OR (two = 'Breakfast cereals' AND three LIKE 'Corn flakes%') OR (two = 'Milk / Milk drinks' AND three LIKE '%milk/milk drinks')
    OR (two LIKE 'Coffee / Tea bags%' AND three LIKE '% drinks') OR (two LIKE 'Fruit Juices%' AND three LIKE '%juices%')
    OR (two = 'Oriental drinks' AND three <> 'Honey Citron Tea')
    OR (two LIKE 'Condiments%' AND (three IN ('Ketchup', 'Pasta sauce') OR three LIKE 'Salad Dressing%'
        OR (three LIKE '%sauces%' AND three NOT LIKE '%soy%' AND three NOT LIKE '%Soy%' AND three NOT LIKE '%Wheat%')));
CREATE OR REPLACE TEMP MACRO density(two, three) AS CASE
    WHEN NOT eaten_as_sold(two, three) THEN NULL
    WHEN two LIKE 'Edible oil%' THEN '0.92' WHEN two IN ('Beer', 'Shandy') THEN '1.01' WHEN two LIKE '%wines' THEN '0.99'
    WHEN two LIKE 'Milk%' OR three LIKE '%oghurt%drinks%' THEN '1.03'
    WHEN two = 'Cream' OR three LIKE '%water%' OR three IN ('Coffee drinks', 'Green tea', 'Tea') THEN '1.00'
    WHEN two LIKE '%drinks' OR two LIKE 'Fruit Juices%' OR three = 'Milk tea drinks' THEN '1.04' END;

INSERT INTO sources VALUES ('hk_pricewatch', 'DATA.GOV.HK Terms and Conditions of Use');

INSERT INTO texts BY NAME
SELECT 'hk_pricewatch' AS source, clean("Product Code") AS item, seq, clean("Product Name") AS name, c.name AS alt_name,
       clean("Brand") AS brand, [clean("Category 1"), clean("Category 2"), clean("Category 3")] AS category,
       clean("Category 3") AS product_type, [{scheme: 'sku', value: clean("Product Code")}] AS identifiers,
       MAP {'weight_kg': kilograms(clean("Product Name")), 'volume_l': litres(clean("Product Name")),
            'weight_basis': CASE WHEN eaten_as_sold(clean("Category 2"), clean("Category 3")) THEN 'as_consumed' END,
            'density_kg_per_l': density(clean("Category 2"), clean("Category 3"))} AS attributes, date::DATE AS day
FROM file LEFT JOIN chinese c ON c.code = "Product Code" WHERE clean("Product Name") <> '--';

INSERT INTO prices BY NAME
SELECT 'hk_pricewatch' AS source, clean("Product Code") AS item, seq, date::DATE AS day,
       clean("Supermarket Code") AS channel, 'listing' AS kind, 'state' AS identity, 'HKD' AS currency,
       "Price"::DECIMAL(20, 4) AS price
FROM file WHERE clean("Product Name") <> '--';
