-- phase: expand
-- Exports: an order may carry the key by which its caller asks again, and the work is split into parts that any worker
-- may take, each with a lease of its own.

ALTER TABLE job_orders ADD COLUMN idempotency_key text, ADD COLUMN request_sha256 bytea;
CREATE UNIQUE INDEX job_orders_idempotent ON job_orders (organization_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- Which months a version changed observations in; null: not known, any of them. By it, "what changed since" leaves out
-- the months that no load has touched.
ALTER TABLE data_versions ADD COLUMN months date[];

-- A place in the store for each attempt of each part: never used twice, so that no two writers ever meet, and the number
-- by which a part's worker is fenced.
CREATE SEQUENCE export_slots START 1000;

CREATE TABLE export_parts (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    number integer NOT NULL CHECK (number > 0),
    content text NOT NULL CHECK (content IN ('rows', 'gone')),
    -- The snapshot that all parts of an export read: its version, and its name for as long as its holder lives.
    data_version bigint NOT NULL,
    snapshot text NOT NULL,
    -- Items whose key lies in [id_from, id_to); keys are hashes, so equal ranges hold equally many.
    id_from bigint NOT NULL,
    id_to bigint NOT NULL,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    attempt integer NOT NULL DEFAULT 0,
    slot bigint,
    lease_until timestamptz,
    not_before timestamptz NOT NULL DEFAULT now(),
    rows_done bigint NOT NULL DEFAULT 0,
    file jsonb,
    error jsonb,
    PRIMARY KEY (job_id, number)
);
CREATE INDEX export_parts_slot ON export_parts (job_id, slot) WHERE slot IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON export_parts TO itemindex_worker;
GRANT USAGE ON SEQUENCE export_slots TO itemindex_worker;
