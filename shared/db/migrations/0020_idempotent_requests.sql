-- phase: expand
-- Answers that a repeated Idempotency-Key receives again for a day. An answer may hold a new key, so it is encrypted under
-- the pepper and the Idempotency-Key itself, of which the table keeps a hash only.

CREATE TABLE idempotent_requests (
    person_id uuid NOT NULL REFERENCES people,
    key_sha256 bytea NOT NULL CHECK (length(key_sha256) = 32),
    request_sha256 bytea NOT NULL CHECK (length(request_sha256) = 32),
    status smallint NOT NULL CHECK (status BETWEEN 200 AND 299),
    sealed_body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (person_id, key_sha256)
);
CREATE INDEX idempotent_requests_created ON idempotent_requests (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON idempotent_requests TO itemindex_edge;
