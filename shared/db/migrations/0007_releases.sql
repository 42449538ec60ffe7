-- phase: expand
-- Releases: a data_version, cut. A manifest for each dataset; its files are named by their content and shared with the
-- releases before and after it.

CREATE TABLE releases (
    dataset text NOT NULL,
    data_version bigint NOT NULL REFERENCES data_versions,
    -- The first of a week is kept longer than those that are cut daily.
    kept_as text NOT NULL CHECK (kept_as IN ('weekly', 'daily')),
    columns jsonb NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (dataset, data_version)
);
CREATE INDEX releases_expiring ON releases (expires_at);

CREATE TABLE release_files (
    dataset text NOT NULL,
    data_version bigint NOT NULL,
    place integer NOT NULL,
    name text NOT NULL CHECK (name ~ '^[a-z0-9-]{1,80}\.parquet$'),
    sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    rows bigint NOT NULL CHECK (rows > 0),
    bytes bigint NOT NULL CHECK (bytes > 0),
    min_key text NOT NULL,
    max_key text NOT NULL,
    -- Of each column that readers prune by: least and greatest value, how many are null.
    statistics jsonb NOT NULL,
    PRIMARY KEY (dataset, data_version, place),
    UNIQUE (dataset, data_version, name),
    FOREIGN KEY (dataset, data_version) REFERENCES releases ON DELETE CASCADE
);
-- Whether a file still belongs to any release is asked by its digest.
CREATE INDEX release_files_sha256 ON release_files (sha256);

GRANT SELECT ON releases, release_files TO itemindex_edge;
GRANT SELECT, INSERT, DELETE ON releases, release_files TO itemindex_worker;
-- The relay orders the release that is due.
GRANT INSERT (kind, queue, organization_id, parameters, fingerprint, data_version, attempts_max) ON jobs
    TO itemindex_worker;
