-- phase: expand
-- What a later release adds: columns, with and without a default, a table, rights.

ALTER TABLE jobs ADD COLUMN importance integer NOT NULL DEFAULT 0;
ALTER TABLE job_orders ADD COLUMN note text;
ALTER TABLE items ADD COLUMN origin text;
CREATE TABLE later (id uuid PRIMARY KEY DEFAULT uuidv7(), job_id uuid REFERENCES jobs ON DELETE CASCADE);
GRANT SELECT, INSERT ON later TO itemindex_edge;
