-- phase: expand
-- Releases are signed when they are published: the signature, and the public half of every key that has signed one.

ALTER TABLE releases ADD COLUMN signature jsonb;
COMMENT ON COLUMN releases.signature IS 'algorithm, key_id and value over the signed statement; NULL: published without a key';

-- A key stays here after another one has replaced it: mirrors of old releases are checked with it.
CREATE TABLE release_keys (
    key_id text PRIMARY KEY CHECK (key_id ~ '^[A-Za-z0-9_-]{43}$'),
    public_key text NOT NULL CHECK (public_key ~ '^[A-Za-z0-9_-]{43}$'),
    first_used_at timestamptz NOT NULL DEFAULT statement_timestamp()
);
GRANT SELECT ON release_keys TO itemindex_edge;
GRANT SELECT, INSERT (key_id, public_key) ON release_keys TO itemindex_worker;
