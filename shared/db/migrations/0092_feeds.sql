-- phase: expand
-- Feeds: addresses and directories that are read again and again, each through its mapping. `itemindex feeds run`
-- serves them as the owner of the schema, who alone may load.

CREATE TABLE feeds (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
    url text CHECK (length(url) <= 2000),
    directory text CHECK (length(directory) <= 2000),
    file_name text CHECK (length(file_name) BETWEEN 1 AND 200),
    source text NOT NULL,
    mapping text NOT NULL,
    every_seconds integer NOT NULL CHECK (every_seconds BETWEEN 60 AND 2678400),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    paused boolean NOT NULL DEFAULT false,
    due_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    etag text,
    last_modified text,
    sha256 bytea,
    failures integer NOT NULL DEFAULT 0,
    error text,
    read_at timestamptz,
    loaded_at timestamptz,
    load_id uuid,
    CHECK (num_nonnulls(url, directory) = 1)
);
COMMENT ON COLUMN feeds.url IS 'may hold a secret in its query: neither lists nor logs show it';
COMMENT ON COLUMN feeds.sha256 IS 'of the bytes that were loaded last: the same bytes are not loaded again';

-- The dispatcher measures how many fail and how late they are; operators see them in the dashboard.
GRANT SELECT (paused, failures, due_at) ON feeds TO itemindex_worker;
GRANT SELECT (name, source, every_seconds, paused, due_at, failures, error, read_at, loaded_at) ON feeds TO itemindex_edge;
