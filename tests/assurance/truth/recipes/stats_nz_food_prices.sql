-- Food prices of New Zealand: each row is the average price of a month, or empty where none was published.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

INSERT INTO sources VALUES ('stats_nz_food_prices', 'CC-BY-4.0');

-- A row without a price says what the food is, and of no day.
INSERT INTO texts BY NAME
SELECT 'stats_nz_food_prices' AS source, clean(food) AS item, seq, clean(food) AS name, ['Food'] AS category,
       CASE WHEN clean(value) IS NOT NULL THEN date::DATE END AS day
FROM file;

INSERT INTO prices BY NAME
SELECT 'stats_nz_food_prices' AS source, clean(food) AS item, seq, date::DATE AS day, 'NZ_AVERAGE' AS channel,
       'listing' AS kind, 'state' AS identity, 'NZD' AS currency, value::DECIMAL(20, 4) AS price
FROM file WHERE clean(value) IS NOT NULL;
