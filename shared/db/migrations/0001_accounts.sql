-- phase: expand
-- Plans, public tokens, organizations and their keys. Group roles hold the rights; the logins that use them are the operator's.

DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['itemindex_edge', 'itemindex_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        END IF;
    END LOOP;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- another database of the same server made them at the same moment
END $$;

CREATE TABLE plans (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9-]{0,31}$'),
    title text NOT NULL,
    rank smallint NOT NULL UNIQUE,
    counted_by text NOT NULL CHECK (counted_by IN ('ip', 'organization')),
    daily_units bigint NOT NULL CHECK (daily_units > 0),
    burst_units integer NOT NULL CHECK (burst_units > 0),
    jobs_running integer NOT NULL DEFAULT 0,
    jobs_queued integer NOT NULL DEFAULT 0,
    batch_iids_max integer NOT NULL DEFAULT 0
);

INSERT INTO plans (name, title, rank, counted_by, daily_units, burst_units, jobs_running, jobs_queued, batch_iids_max) VALUES
    ('anonymous', 'No sign-up', 0, 'ip', 3, 3, 0, 0, 0),
    ('free', 'Free sign-up', 1, 'ip', 100, 10, 0, 0, 0),
    ('brand', 'Brand', 2, 'organization', 50000, 50, 4, 20, 100),
    ('institutional', 'Institutional', 3, 'organization', 1000000, 200, 16, 100, 1000);

CREATE TABLE public_tokens (
    token_id text PRIMARY KEY,
    secret_hash bytea NOT NULL,
    label text,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

CREATE TABLE organizations (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    plan text NOT NULL REFERENCES plans,
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    key_id text PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    secret_hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz
);

-- One key per organization: a second current key cannot exist; one in its grace has an end.
CREATE UNIQUE INDEX api_keys_current ON api_keys (organization_id) WHERE revoked_at IS NULL AND expires_at IS NULL;

-- Every edge forgets what it remembered of a credential as soon as the change commits.
CREATE FUNCTION tell_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('accounts', TG_TABLE_NAME);
    RETURN NULL;
END $$;

CREATE TRIGGER plans_told AFTER INSERT OR UPDATE OR DELETE ON plans FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();
CREATE TRIGGER public_tokens_told AFTER INSERT OR UPDATE OR DELETE ON public_tokens FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();
CREATE TRIGGER organizations_told AFTER UPDATE OR DELETE ON organizations FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();
CREATE TRIGGER api_keys_told AFTER INSERT OR UPDATE OR DELETE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();

GRANT SELECT ON plans, public_tokens, organizations, api_keys TO itemindex_edge;
GRANT SELECT ON plans, organizations TO itemindex_worker;
