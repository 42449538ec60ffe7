-- Online Price Watch: each row is a shelf price of a day; the last row of a product names it.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

-- Chinese names lie beside the prices: an object by product code, of which brand and name make the other name.
CREATE OR REPLACE TEMP TABLE chinese AS
SELECT t.key AS code, trim(concat_ws(' ', t.value ->> '$.brand', t.value ->> '$.name')) AS name
FROM (SELECT unnest(map_entries(content::JSON::MAP(VARCHAR, JSON)), recursive := true)
      FROM read_text(getvariable('folder') || '/names_tc.json')) t;

INSERT INTO sources VALUES ('hk_pricewatch', 'DATA.GOV.HK Terms and Conditions of Use');

INSERT INTO texts BY NAME
SELECT 'hk_pricewatch' AS source, clean("Product Code") AS item, seq, clean("Product Name") AS name, c.name AS alt_name,
       clean("Brand") AS brand, [clean("Category 1"), clean("Category 2"), clean("Category 3")] AS category,
       clean("Category 3") AS product_type, [{scheme: 'sku', value: clean("Product Code")}] AS identifiers,
       MAP {'weight_kg': weight(clean("Product Name"))} AS attributes, date::DATE AS day
FROM file LEFT JOIN chinese c ON c.code = "Product Code" WHERE clean("Product Name") <> '--';

INSERT INTO prices BY NAME
SELECT 'hk_pricewatch' AS source, clean("Product Code") AS item, seq, date::DATE AS day,
       clean("Supermarket Code") AS channel, 'listing' AS kind, 'state' AS identity, 'HKD' AS currency,
       "Price"::DECIMAL(20, 4) AS price
FROM file WHERE clean("Product Name") <> '--';
