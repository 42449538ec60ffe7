-- name: kept
-- The kept releases in their order: what a catalogue is made from.
SELECT dataset, data_version, columns, rows, bytes, created_at FROM releases ORDER BY data_version, dataset;

-- name: files
-- The files of all kept releases.
SELECT dataset, data_version, name, sha256, rows, bytes, statistics FROM release_files
ORDER BY dataset, data_version, place;

-- name: newest
-- What the catalogue that is served was made from.
SELECT releases FROM release_catalogues ORDER BY id DESC LIMIT 1;

-- name: publish
-- From now on this is the one that is served.
INSERT INTO release_catalogues (sha256, bytes, releases) VALUES ($1, $2, $3);

-- name: expire
-- Those that another one has followed for an hour: clients that had opened them have had time to read them.
DELETE FROM release_catalogues c WHERE EXISTS (
    SELECT FROM release_catalogues n WHERE n.id > c.id AND n.created_at < statement_timestamp() - interval '1 hour')
RETURNING sha256;

-- name: named
-- Whether a catalogue of these bytes is still kept.
SELECT count(*) FROM release_catalogues WHERE sha256 = $1;
