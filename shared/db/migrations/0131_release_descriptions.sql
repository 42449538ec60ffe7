-- phase: expand
-- What descriptions of a release need and its files do not say, and which column came or went in which release.

ALTER TABLE releases ADD COLUMN profile jsonb;
COMMENT ON COLUMN releases.profile IS 'sources with their terms; for observations the days that have none';

CREATE TABLE schema_changes (
    dataset text NOT NULL,
    data_version bigint NOT NULL REFERENCES data_versions,
    change text NOT NULL CHECK (change IN ('added', 'changed', 'removed')),
    name text NOT NULL,
    type text NOT NULL,
    nullable boolean NOT NULL,
    PRIMARY KEY (dataset, data_version, name)
);

-- Releases expire and this does not, so what the releases that are still kept say is recorded once, here.
WITH columns AS (
    SELECT r.dataset, r.data_version, c.name, c.type, c.nullable
    FROM releases r, jsonb_to_recordset(r.columns) AS c (name text, type text, nullable boolean)),
steps AS (
    SELECT dataset, data_version, lag(data_version) OVER (PARTITION BY dataset ORDER BY data_version) AS before FROM releases)
INSERT INTO schema_changes (dataset, data_version, change, name, type, nullable)
SELECT s.dataset, s.data_version,
       CASE WHEN o.name IS NULL THEN 'added' WHEN n.name IS NULL THEN 'removed' ELSE 'changed' END,
       coalesce(n.name, o.name), coalesce(n.type, o.type), coalesce(n.nullable, o.nullable)
FROM steps s
CROSS JOIN LATERAL (SELECT DISTINCT c.name FROM columns c
    WHERE c.dataset = s.dataset AND c.data_version IN (s.data_version, s.before)) AS either
LEFT JOIN columns n ON (n.dataset, n.data_version, n.name) = (s.dataset, s.data_version, either.name)
LEFT JOIN columns o ON (o.dataset, o.data_version, o.name) = (s.dataset, s.before, either.name)
WHERE o.name IS NULL OR n.name IS NULL OR (n.type, n.nullable) IS DISTINCT FROM (o.type, o.nullable);

GRANT SELECT ON schema_changes TO itemindex_edge;
GRANT SELECT, INSERT ON schema_changes TO itemindex_worker;
