-- phase: expand
-- Catalogues of the kept releases, one file each. The newest row is the one that is served; the one before it is kept for
-- readers that have opened it. `releases` is what the file was made from: it is made again only where that has changed.
CREATE TABLE release_catalogues (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    bytes bigint NOT NULL CHECK (bytes > 0),
    releases text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON release_catalogues TO itemindex_edge;
GRANT SELECT, INSERT, DELETE ON release_catalogues TO itemindex_worker;
