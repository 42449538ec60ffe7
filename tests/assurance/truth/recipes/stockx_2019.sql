-- StockX: single sales. A price with fractions of a cent goes to the even cent.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq, clean("Sneaker Name") AS id,
       replace(replace("Sale Price", '$', ''), ',', '')::DECIMAL(18, 8) * 100 AS cents
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

INSERT INTO sources VALUES ('stockx_2019', 'not stated; published by StockX for its 2019 Data Contest');

INSERT INTO texts BY NAME
SELECT 'stockx_2019' AS source, id AS item, seq, replace(id, '-', ' ') AS name, clean("Brand") AS brand,
       ['Footwear', 'Sneakers'] AS category, 'Sneaker' AS product_type,
       []::STRUCT(scheme VARCHAR, value VARCHAR)[] AS identifiers,
       MAP {'release_date': clean("Release Date")} AS attributes, "Order Date"::DATE AS day
FROM file;

INSERT INTO prices BY NAME
SELECT 'stockx_2019' AS source, id AS item, seq, "Order Date"::DATE AS day, 'STOCKX' AS channel, 'sale' AS kind,
       'event' AS identity, 'USD' AS currency, (floor(cents) + CASE WHEN cents - floor(cents) > 0.5
           OR (cents - floor(cents) = 0.5 AND floor(cents)::BIGINT % 2 = 1) THEN 1 ELSE 0 END)::DECIMAL(18, 2)
           * 0.01::DECIMAL(4, 2) AS price,
       replace(replace("Retail Price", '$', ''), ',', '')::DECIMAL(20, 4) AS list_price
FROM file;
