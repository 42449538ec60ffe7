-- Products of judged queries: a title and a description each.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq
FROM read_csv(getvariable('file'), header = true, all_varchar = true);

INSERT INTO sources VALUES ('crowdflower_relevance', 'competition rules: internal evaluation only');

INSERT INTO texts BY NAME
SELECT 'crowdflower_relevance' AS source, clean(id) AS item, seq, clean(product_title) AS name,
       []::STRUCT(scheme VARCHAR, value VARCHAR)[] AS identifiers,
       MAP {'description': clean(product_description)} AS attributes, NULL::DATE AS day
FROM file;
