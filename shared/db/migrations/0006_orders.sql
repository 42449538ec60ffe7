-- phase: expand
-- Jobs as organizations see them: a job is one computation; each organization that wants it has an order of its own,
-- which it sees, pays and cancels by itself. Results expire, refunds are due exactly once, progress is numbered.

ALTER TABLE jobs
    ADD COLUMN format text,
    ADD COLUMN not_before timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN expires_at timestamptz,
    ADD COLUMN changes bigint NOT NULL DEFAULT 0;

CREATE TABLE job_orders (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    organization_id uuid NOT NULL REFERENCES organizations,
    -- What was charged, to whom and on which day, so that it can be given back to the right counter.
    account text NOT NULL,
    charge_id text NOT NULL,
    charged_day bigint NOT NULL,
    units integer NOT NULL CHECK (units >= 0),
    refund_due boolean NOT NULL DEFAULT false,
    refunded_at timestamptz,
    cancelled_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
-- An organization that asks again for what it already waits for joins its own order, and does not pay twice.
CREATE UNIQUE INDEX job_orders_own ON job_orders (job_id, organization_id) WHERE cancelled_at IS NULL;
CREATE INDEX job_orders_listed ON job_orders (organization_id, id DESC);
CREATE INDEX job_orders_refund_due ON job_orders (id) WHERE refund_due;
CREATE INDEX jobs_answers ON jobs (kind, fingerprint, finished_at DESC) WHERE state = 'succeeded';
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE state = 'succeeded' AND expires_at IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (finished_at) WHERE finished_at IS NOT NULL;

-- Every change that a watcher may see has a number, by which an event stream goes on where it broke off.
CREATE FUNCTION number_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.state, NEW.attempt, NEW.progress_fraction, NEW.progress_stage, NEW.rows_done)
        IS DISTINCT FROM (OLD.state, OLD.attempt, OLD.progress_fraction, OLD.progress_stage, OLD.rows_done) THEN
        NEW.changes := OLD.changes + 1;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER jobs_numbered BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION number_job();

-- A job that ends without a result owes its price to everyone who ordered it: in the same transaction, so that no crash
-- comes between.
CREATE OR REPLACE FUNCTION tell_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM pg_notify('jobs_queued', NEW.id::text);
        RETURN NULL;
    END IF;
    IF NEW.changes IS DISTINCT FROM OLD.changes THEN
        PERFORM pg_notify('jobs_changed', NEW.id::text);
    END IF;
    IF NEW.state IS DISTINCT FROM OLD.state THEN
        IF NEW.state = 'queued' OR OLD.state IN ('queued', 'running') THEN
            PERFORM pg_notify('jobs_queued', NEW.id::text);
        END IF;
        IF NEW.state = 'cancelled' THEN
            PERFORM pg_notify('jobs_cancelled', NEW.id::text);
        END IF;
        IF NEW.state IN ('failed', 'cancelled') THEN
            UPDATE job_orders SET refund_due = true
            WHERE job_id = NEW.id AND units > 0 AND refunded_at IS NULL AND NOT refund_due;
        END IF;
    END IF;
    RETURN NULL;
END $$;

GRANT SELECT, INSERT, UPDATE ON job_orders TO itemindex_edge;
GRANT UPDATE (state, finished_at, lease_until, relayed_at, fingerprint, organization_id) ON jobs TO itemindex_edge;
GRANT SELECT, UPDATE, DELETE ON job_orders TO itemindex_worker;
GRANT DELETE ON jobs TO itemindex_worker;
