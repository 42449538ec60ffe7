-- Listings: a row counts when every value of it can be used, and not at all when one cannot.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + number AS seq, try_strptime(day, '%d.%m.%Y')::DATE AS seen,
       clean(name) IS NOT NULL AND clean(id) IS NOT NULL AND clean(shop) IS NOT NULL
       AND coalesce(strftime(try_strptime(day, '%d.%m.%Y'), '%d.%m.%Y') = day, false)
       AND coalesce(regexp_full_match(currency, '[A-Z]{3}'), false)
       AND regexp_full_match(price, '[0-9]{1,12}(\.[0-9]*)?')
       AND coalesce(length(rtrim(regexp_extract(price, '\.([0-9]*)$', 1), '0')) <= minor(currency), false)
       AND (was IS NULL OR length(rtrim(regexp_extract(was, '\.([0-9]*)$', 1), '0')) <= minor(currency))
       AND (co2 IS NULL OR regexp_full_match(co2, '[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?'))
       AND (quality IS NULL OR regexp_full_match(quality, '\(?[1-5]( *[;,] *[1-5]){4}\)?'))
       AND (year IS NULL OR year BETWEEN '1900' AND '2199')
       AND (water IS NULL OR regexp_full_match(water, '[0-9]+(\.[0-9]+)?')) AS usable
FROM (SELECT *, row_number() OVER () AS number FROM read_csv(getvariable('file'), header = true, all_varchar = true));

INSERT INTO sources VALUES ('generated_listings', 'CC0-1.0');
INSERT INTO ranks VALUES ('generated_listings', 1);
INSERT INTO refused SELECT 'generated_listings', 'generated_listings.csv', number + 1 FROM file WHERE NOT usable;

INSERT INTO texts BY NAME
SELECT 'generated_listings' AS source, clean(id) AS item, seq, clean(name) AS name, clean(maker) AS brand,
       CASE WHEN clean(path) IS NOT NULL THEN [clean(p) FOR p IN string_split(path, ' > ')] END AS category,
       clean(kind) AS product_type, [{scheme: 'sku', value: clean(id)}] AS identifiers,
       MAP {'weight_kg': clean(weight)} AS attributes, seen AS day
FROM file WHERE usable;

INSERT INTO prices BY NAME
SELECT 'generated_listings' AS source, clean(id) AS item, seq, seen AS day, clean(shop) AS channel, 'listing' AS kind,
       'state' AS identity, currency, price::DECIMAL(20, 4) AS price, was::DECIMAL(20, 4) AS list_price
FROM file WHERE usable;

INSERT INTO figures
SELECT 'generated_listings', clean(id), seq, indicator, value::DECIMAL(38, 20), basis, method, seen,
       '(' || regexp_replace(trim(quality, '() '), ' *[;,] *', ',', 'g') || ')', year::INTEGER
FROM file CROSS JOIN LATERAL (VALUES ('co2e_kg', co2, 'measured', 'weighed'), ('water_l', water, 'modelled', 'estimated'))
    f(indicator, value, basis, method)
WHERE usable AND value IS NOT NULL;
