-- phase: contract
-- The edge's role sees the rows of the person and the organization for whom its transaction works, and changes accounts
-- through the functions of 0022 alone. Code that does not set the context sees nothing, so it must be gone by now.

REVOKE INSERT, UPDATE, DELETE ON organizations, members, people, invitations, audit FROM itemindex_edge;
REVOKE INSERT, UPDATE, DELETE ON api_keys FROM itemindex_edge;
GRANT UPDATE (last_used_at, last_used_network) ON api_keys TO itemindex_edge;

ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_organizations ON organizations FOR SELECT TO itemindex_edge
    USING (id = (SELECT context_organization()) OR context_task() = 'plan-notices' OR id IN (
        SELECT m.organization_id FROM members m WHERE m.person_id = (SELECT context_person())));
CREATE POLICY worker_organizations ON organizations FOR SELECT TO itemindex_worker USING (true);

ALTER TABLE members ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_members ON members FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) OR person_id = (SELECT context_person()));

ALTER TABLE people ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_people ON people FOR SELECT TO itemindex_edge
    USING (id = (SELECT context_person()) OR context_task() = 'sign-in' OR id IN (
        SELECT m.person_id FROM members m WHERE m.organization_id = (SELECT context_organization())));

ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_invitations ON invitations FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()));

ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_audit ON audit FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()));

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_api_keys ON api_keys FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) OR context_task() = 'usage');
CREATE POLICY edge_api_keys_used ON api_keys FOR UPDATE TO itemindex_edge
    USING (context_task() = 'usage') WITH CHECK (context_task() = 'usage');

ALTER TABLE public_tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_public_tokens ON public_tokens TO itemindex_edge
    USING (person_id = (SELECT context_person())) WITH CHECK (person_id = (SELECT context_person()));

ALTER TABLE plan_requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_plan_requests ON plan_requests FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) OR context_task() = 'plan-notices');
CREATE POLICY edge_plan_requests_noted ON plan_requests FOR UPDATE TO itemindex_edge
    USING (context_task() = 'plan-notices') WITH CHECK (context_task() = 'plan-notices');

-- Answers older than a day are deleted by any of the edge's transactions; nothing can be read from them without its key.
ALTER TABLE idempotent_requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_idempotent_requests ON idempotent_requests TO itemindex_edge
    USING (person_id = (SELECT context_person()) OR created_at <= statement_timestamp() - interval '24 hours')
    WITH CHECK (person_id = (SELECT context_person()));

ALTER TABLE usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_usage ON usage FOR SELECT TO itemindex_edge
    USING (account = 'org:' || (SELECT context_organization()) OR context_task() = 'usage' OR account IN (
        SELECT 'token:' || t.token_id FROM public_tokens t WHERE t.person_id = (SELECT context_person())));
CREATE POLICY edge_usage_added ON usage FOR INSERT TO itemindex_edge WITH CHECK (context_task() = 'usage');
CREATE POLICY edge_usage_changed ON usage FOR UPDATE TO itemindex_edge
    USING (context_task() = 'usage') WITH CHECK (context_task() = 'usage');
CREATE POLICY worker_usage ON usage TO itemindex_worker USING (true) WITH CHECK (true);

-- What PUBLIC may do by default: nobody but our roles connects, and only the workers, whose loads need them, make
-- temporary tables. set_config() would let an expression inside a statement change for whom its transaction works; SET,
-- which is a statement of its own, stays. Both need an owner who may grant them; elsewhere an operator does it.
DO $$
DECLARE
    login text;
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO itemindex_edge, itemindex_worker, itemindex_analytics', current_database());
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO itemindex_worker', current_database());
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    REVOKE ALL ON FUNCTION pg_catalog.set_config(text, text, boolean) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) TO itemindex_worker, itemindex_analytics;
    -- A statement of the edge that nobody waits for any more ends by itself. Settings of a group are not inherited.
    FOR login IN SELECT m.member::regrole::text FROM pg_auth_members m WHERE m.roleid = 'itemindex_edge'::regrole LOOP
        EXECUTE format('ALTER ROLE %s SET statement_timeout = %L', login, '10s');
        EXECUTE format('ALTER ROLE %s SET lock_timeout = %L', login, '5s');
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'the owner may not change rights of PUBLIC or time-outs of logins: see deploy/guides/operate.md';
END $$;
