-- Two sides of offers with nothing but a title: the ids of the left begin with L, those of the right with R.
CREATE OR REPLACE TEMP TABLE file AS
SELECT *, getvariable('start') + row_number() OVER () AS seq
FROM read_csv(getvariable('file'), header = true, all_varchar = true, delim = ',', quote = '"', escape = '"');

INSERT INTO sources SELECT getvariable('source'), 'Evaluation only: no terms are stated for the data';

INSERT INTO texts BY NAME
SELECT getvariable('source') AS source, clean(id) AS item, seq, clean(title) AS name,
       []::STRUCT(scheme VARCHAR, value VARCHAR)[] AS identifiers, MAP {}::MAP(VARCHAR, VARCHAR) AS attributes,
       NULL::DATE AS day
FROM file;
