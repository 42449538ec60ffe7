-- phase: expand
-- People, their roles in organizations, what was done there, and what was used.

CREATE TABLE people (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    issuer text NOT NULL,
    subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
    email text,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (issuer, subject)
);

-- Only these may be chosen without asking us; the others an operator gives.
ALTER TABLE plans ADD COLUMN self_service boolean NOT NULL DEFAULT false;
UPDATE plans SET self_service = true WHERE name = 'brand';

CREATE TABLE members (
    organization_id uuid NOT NULL REFERENCES organizations,
    person_id uuid NOT NULL REFERENCES people,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    joined_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, person_id)
);
CREATE INDEX members_person ON members (person_id, joined_at);

CREATE TABLE invitations (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations,
    email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
    role text NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
    secret_hash bytea NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at timestamptz
);
CREATE UNIQUE INDEX invitations_open ON invitations (organization_id, lower(email))
    WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- What was done in an organization, and by whom. Written by the same statement that does it; never changed.
CREATE TABLE audit (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations,
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    actor_id uuid REFERENCES people,
    actor text NOT NULL,
    act text NOT NULL,
    subject text NOT NULL DEFAULT ''
);
CREATE INDEX audit_organization ON audit (organization_id, id DESC);

ALTER TABLE public_tokens ADD COLUMN person_id uuid REFERENCES people;
CREATE UNIQUE INDEX public_tokens_person ON public_tokens (person_id) WHERE revoked_at IS NULL;

ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz, ADD COLUMN last_used_network text;

-- Calls per day, as the edges counted them; `account` is `org:<id>` or `token:<id>`. Statistics, not the quota.
CREATE TABLE usage (
    account text NOT NULL,
    day date NOT NULL,
    credential text NOT NULL,
    endpoint text NOT NULL,
    outcome text NOT NULL,
    calls bigint NOT NULL,
    units bigint NOT NULL,
    PRIMARY KEY (account, day, credential, endpoint, outcome)
);

CREATE TRIGGER people_told AFTER UPDATE OR DELETE ON people FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();
CREATE TRIGGER members_told AFTER INSERT OR UPDATE OR DELETE ON members FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();

-- When a key was last used is written every few seconds and changes nobody's rights: it must not make edges forget.
DROP TRIGGER api_keys_told ON api_keys;
CREATE TRIGGER api_keys_told AFTER INSERT OR DELETE OR UPDATE OF secret_hash, expires_at, revoked_at ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();

GRANT SELECT, INSERT ON people, members, invitations, audit, usage TO itemindex_edge;
GRANT UPDATE (name, email) ON people TO itemindex_edge;
GRANT UPDATE (role), DELETE ON members TO itemindex_edge;
GRANT UPDATE (accepted_at, revoked_at) ON invitations TO itemindex_edge;
GRANT UPDATE (calls, units) ON usage TO itemindex_edge;
GRANT INSERT (name, plan) ON organizations TO itemindex_edge;
GRANT UPDATE (name) ON organizations TO itemindex_edge;
GRANT INSERT, UPDATE (expires_at, revoked_at, last_used_at, last_used_network) ON api_keys TO itemindex_edge;
GRANT INSERT, UPDATE (revoked_at) ON public_tokens TO itemindex_edge;
