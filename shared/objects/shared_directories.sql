-- name: record
-- The first part of the service says where it is. A host may move its own place, but not that of another host.
INSERT INTO shared_directories (name, identity, location, host) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE
SET identity = excluded.identity, location = excluded.location, recorded_at = statement_timestamp()
WHERE shared_directories.host = excluded.host AND shared_directories.identity <> excluded.identity;

-- name: recorded
-- Where the parts that started before have it.
SELECT identity, location, host FROM shared_directories WHERE name = $1;

-- name: adopt
-- An operator has moved it on every host.
INSERT INTO shared_directories (name, identity, location, host) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE
SET identity = excluded.identity, location = excluded.location, host = excluded.host, recorded_at = statement_timestamp();
