-- phase: expand
-- A new organization begins on the free plan; another plan is asked for and approved by an operator. What the edge may
-- change of a plan goes through the functions below, so that a statement of its own cannot give an organization a plan.

ALTER TABLE organizations ADD COLUMN created_by uuid REFERENCES people;
-- An address is matched with invitations only where the provider says that it has verified it.
ALTER TABLE people ADD COLUMN email_verified boolean NOT NULL DEFAULT false;
GRANT UPDATE (email_verified) ON people TO itemindex_edge;

CREATE TABLE plan_requests (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations,
    plan text NOT NULL REFERENCES plans,
    requested_by uuid REFERENCES people,
    requested_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    notified_at timestamptz,
    decision text CHECK (decision IN ('approved', 'declined')),
    decided_at timestamptz,
    decided_by text,
    CHECK ((decision IS NULL) = (decided_at IS NULL))
);
CREATE UNIQUE INDEX plan_requests_open ON plan_requests (organization_id) WHERE decision IS NULL;
GRANT SELECT, UPDATE (notified_at) ON plan_requests TO itemindex_edge;

-- Asks for a plan. Where plans are approved at once (p_at_once) only one of self-service is given, and given now.
-- Returns the plan that the organization has, the id of the request that waits, and why nothing was done: no-such-plan,
-- not-self-service, has-it, waiting.
CREATE FUNCTION request_plan(p_organization uuid, p_plan text, p_person uuid, p_actor text, p_at_once boolean)
RETURNS TABLE (granted_plan text, request_id text, refusal text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked plans;
BEGIN
    SELECT o.plan INTO granted_plan FROM organizations o WHERE o.id = p_organization FOR NO KEY UPDATE;
    SELECT p.* INTO asked FROM plans p WHERE p.name = p_plan AND (p.counted_by = 'organization' OR p.name = 'free');
    IF asked.name IS NULL OR granted_plan IS NULL THEN
        refusal := 'no-such-plan';
    ELSIF asked.name = granted_plan THEN
        refusal := 'has-it';
    ELSIF p_at_once AND NOT (asked.self_service OR asked.name = 'free') THEN
        refusal := 'not-self-service';
    ELSIF p_at_once THEN
        UPDATE organizations SET plan = asked.name WHERE id = p_organization;
        granted_plan := asked.name;
        INSERT INTO audit (organization_id, actor_id, actor, act, subject)
        VALUES (p_organization, p_person, p_actor, 'plan.changed', asked.name);
    ELSE
        INSERT INTO plan_requests (organization_id, plan, requested_by) VALUES (p_organization, asked.name, p_person)
        ON CONFLICT (organization_id) WHERE decision IS NULL DO NOTHING RETURNING id::text INTO request_id;
        IF request_id IS NULL THEN
            refusal := 'waiting';
        ELSE
            INSERT INTO audit (organization_id, actor_id, actor, act, subject)
            VALUES (p_organization, p_person, p_actor, 'plan.requested', asked.name);
        END IF;
    END IF;
    RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION request_plan(uuid, text, uuid, text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION request_plan(uuid, text, uuid, text, boolean) TO itemindex_edge;

-- Makes an organization on the free plan with its first owner, and asks for the other plan where one is wanted.
-- p_owned_max bounds how many organizations a person has made or owns; the person's row is locked for the count.
CREATE FUNCTION create_organization(
    p_name text, p_plan text, p_person uuid, p_actor text, p_owned_max integer, p_at_once boolean)
RETURNS TABLE (organization_id text, granted_plan text, request_id text, refusal text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    made uuid;
    outcome record;
BEGIN
    PERFORM FROM people WHERE id = p_person FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM organizations o WHERE o.created_by = p_person OR EXISTS (
            SELECT FROM members m WHERE m.organization_id = o.id AND m.person_id = p_person AND m.role = 'owner'))
            >= p_owned_max THEN
        RETURN QUERY SELECT NULL::text, NULL::text, NULL::text, 'too-many';
        RETURN;
    END IF;
    INSERT INTO organizations (name, plan, created_by) VALUES (p_name, 'free', p_person) RETURNING id INTO made;
    INSERT INTO members (organization_id, person_id, role) VALUES (made, p_person, 'owner');
    INSERT INTO audit (organization_id, actor_id, actor, act, subject)
    VALUES (made, p_person, p_actor, 'organization.created', 'free');
    SELECT * INTO outcome FROM request_plan(made, p_plan, p_person, p_actor, p_at_once);
    RETURN QUERY SELECT made::text, outcome.granted_plan, outcome.request_id, nullif(outcome.refusal, 'has-it');
END $$;
REVOKE ALL ON FUNCTION create_organization(text, text, uuid, text, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_organization(text, text, uuid, text, integer, boolean) TO itemindex_edge;
