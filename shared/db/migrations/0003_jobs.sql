-- phase: expand
-- Jobs: the row is the truth, a broker message only a doorbell.

CREATE TABLE jobs (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    kind text NOT NULL,
    queue text NOT NULL,
    organization_id uuid REFERENCES organizations,
    parameters jsonb NOT NULL DEFAULT '{}',
    fingerprint text NOT NULL,
    data_version bigint,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired')),
    attempt integer NOT NULL DEFAULT 0,
    attempts_max integer NOT NULL DEFAULT 3,
    lease_until timestamptz,
    relayed_at timestamptz,
    progress_fraction real NOT NULL DEFAULT 0 CHECK (progress_fraction BETWEEN 0 AND 1),
    progress_stage text NOT NULL DEFAULT 'queued',
    rows_done bigint NOT NULL DEFAULT 0,
    rows_total bigint,
    result jsonb,
    error jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz
);

-- Equal requests that run at the same time share one job.
CREATE UNIQUE INDEX jobs_shared ON jobs (kind, fingerprint) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_to_relay ON jobs (created_at) WHERE state = 'queued';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'running';

CREATE FUNCTION tell_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM pg_notify('jobs_queued', NEW.id::text);
    ELSIF NEW.state IS DISTINCT FROM OLD.state THEN
        PERFORM pg_notify('jobs_changed', NEW.id::text || ' ' || NEW.state);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_told AFTER INSERT OR UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION tell_job();

GRANT SELECT, INSERT ON jobs TO itemindex_edge;
GRANT SELECT, UPDATE ON jobs TO itemindex_worker;
