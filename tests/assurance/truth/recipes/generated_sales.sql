-- Sales: European amounts, and each row one sale of so many units; without an amount it says something of the item alone.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + number AS seq, try_strptime(sold, '%Y/%m/%d')::DATE AS day,
       try_cast(replace(replace(replace(paid, ' €', ''), '.', ''), ',', '.') AS DECIMAL(20, 4)) AS amount,
       replace(replace(replace("full", ' €', ''), '.', ''), ',', '.')::DECIMAL(20, 4) AS list_amount,
       coalesce(try_strptime(sold, '%Y/%m/%d') IS NOT NULL AND regexp_full_match(qty, '[1-9][0-9]*')
       AND (iid IS NULL OR regexp_full_match(upper(iid), 'IID(-[0-9A-Z]{1,16}){1,8}')), false) AS usable
FROM (SELECT *, row_number() OVER () AS number FROM read_csv(getvariable('file'), header = true, all_varchar = true));

INSERT INTO sources VALUES ('generated_sales', 'CC0-1.0');
INSERT INTO refused SELECT 'generated_sales', 'generated_sales.csv', number + 1 FROM file WHERE NOT usable;

INSERT INTO texts BY NAME
SELECT 'generated_sales' AS source, clean(sku) AS item, seq, iid, clean(title) AS name, clean(maker) AS brand,
       [{scheme: 'source', value: clean(sku)}] AS identifiers, MAP {}::MAP(VARCHAR, VARCHAR) AS attributes, day
FROM file WHERE usable;

INSERT INTO prices BY NAME
SELECT 'generated_sales' AS source, clean(sku) AS item, seq, day, '東' AS channel, 'sale' AS kind, 'event' AS identity,
       'EUR' AS currency, amount AS price, list_amount AS list_price, qty::BIGINT AS units
FROM file WHERE usable AND amount IS NOT NULL;
