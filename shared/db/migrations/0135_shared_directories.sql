-- phase: expand
-- Where results and the search index are stored: every host must see the same place, or what a worker of one writes is
-- nothing to the edges of another. Each part compares at its start.

CREATE TABLE shared_directories (
    name text PRIMARY KEY CHECK (name IN ('results', 'search')),
    identity text NOT NULL CHECK (length(identity) BETWEEN 1 AND 300),
    location text NOT NULL CHECK (length(location) BETWEEN 1 AND 4096),
    host text NOT NULL CHECK (length(host) BETWEEN 1 AND 300),
    recorded_at timestamptz NOT NULL DEFAULT statement_timestamp()
);
COMMENT ON COLUMN shared_directories.identity IS 'of the directory, from a file in it, or of the bucket: the same on every host that sees the same place';

GRANT SELECT, INSERT (name, identity, location, host), UPDATE (identity, location, recorded_at) ON shared_directories
    TO itemindex_edge, itemindex_worker;
