-- phase: expand
-- Acts of people as functions that check who acts, write the change and write its audit row. The edge says for whom it
-- works by SET LOCAL at the beginning of a transaction; what the functions are given must agree with that. And each audit
-- row carries a hash over itself and the row before it.

CREATE FUNCTION context_person() RETURNS uuid LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('itemindex.person', true), '')::uuid $$;
CREATE FUNCTION context_organization() RETURNS uuid LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('itemindex.organization', true), '')::uuid $$;
CREATE FUNCTION context_task() RETURNS text LANGUAGE sql STABLE
AS $$ SELECT current_setting('itemindex.task', true) $$;

-- Whether the session is an operator's: of the schema's owner, not of the edge's role.
CREATE FUNCTION is_operator() RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'public.organizations'::regclass), 'USAGE')
$$;

-- Raises insufficient_privilege unless the transaction works for this person in this organization, with one of the roles.
CREATE FUNCTION authorize(p_organization uuid, p_person uuid, p_roles text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF is_operator() THEN
        RETURN;
    END IF;
    IF p_organization IS DISTINCT FROM context_organization() OR p_person IS DISTINCT FROM context_person()
        OR NOT EXISTS (SELECT FROM members m
                       WHERE m.organization_id = p_organization AND m.person_id = p_person AND m.role = ANY (p_roles)) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the acting person may not do this';
    END IF;
END $$;
REVOKE ALL ON FUNCTION authorize(uuid, uuid, text[]) FROM PUBLIC;

-- Writes an audit row under the name that the person has here, or under p_actor for an operator.
CREATE FUNCTION write_audit(p_organization uuid, p_person uuid, p_actor text, p_act text, p_subject text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO audit (organization_id, actor_id, actor, act, subject)
    SELECT p_organization, p_person, coalesce((SELECT name FROM people WHERE id = p_person), p_actor), p_act, p_subject
$$;
REVOKE ALL ON FUNCTION write_audit(uuid, uuid, text, text, text) FROM PUBLIC;

-- Credentials -------------------------------------------------------------------------------------------------------

CREATE FUNCTION find_api_key(p_key text)
RETURNS TABLE (secret_hash bytea, organization_id text, organization_name text, plan text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.secret_hash, o.id::text, o.name, o.plan
    FROM api_keys k JOIN organizations o ON o.id = k.organization_id
    WHERE k.key_id = p_key AND k.revoked_at IS NULL AND o.state = 'active'
      AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())
$$;
CREATE FUNCTION find_public_token(p_token text) RETURNS TABLE (secret_hash bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.secret_hash FROM public_tokens t WHERE t.token_id = p_token AND t.revoked_at IS NULL
$$;
CREATE FUNCTION organization_rank(p_organization text) RETURNS TABLE (rank smallint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT p.rank FROM organizations o JOIN plans p ON p.name = o.plan
    WHERE o.id::text = p_organization AND o.state = 'active'
$$;

CREATE FUNCTION join_person(p_issuer text, p_subject text, p_email text, p_name text, p_verified boolean)
RETURNS TABLE (id text, name text, email text, email_verified boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF context_task() IS DISTINCT FROM 'sign-in' AND NOT is_operator() THEN
        RAISE insufficient_privilege USING MESSAGE = 'people are made by signing in';
    END IF;
    RETURN QUERY
    INSERT INTO people AS p (issuer, subject, email, name, email_verified)
    VALUES (p_issuer, p_subject, p_email, p_name, p_verified)
    ON CONFLICT (issuer, subject) DO UPDATE
    SET email = excluded.email, name = excluded.name, email_verified = excluded.email_verified
    WHERE (p.email, p.name, p.email_verified) IS DISTINCT FROM (excluded.email, excluded.name, excluded.email_verified)
    RETURNING p.id::text, p.name, p.email, p.email_verified;
END $$;

-- Keys --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION issue_key(p_organization uuid, p_key text, p_hash bytea, p_person uuid, p_actor text)
RETURNS TABLE (key_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    INSERT INTO api_keys (key_id, organization_id, secret_hash)
    SELECT p_key, o.id, p_hash FROM organizations o WHERE o.id = p_organization AND o.state = 'active'
        AND NOT EXISTS (SELECT FROM api_keys k
                        WHERE k.organization_id = o.id AND k.revoked_at IS NULL AND k.expires_at IS NULL);
    IF FOUND THEN
        PERFORM write_audit(p_organization, p_person, p_actor, 'key.issued', p_key);
        RETURN QUERY SELECT p_key;
    END IF;
END $$;

-- Of two rotations at the same moment one finds the current key gone and does nothing. A key that is in its grace keeps
-- the end that was promised; the current one then ends at once, so that never more than two keys work.
CREATE FUNCTION rotate_key(
    p_organization uuid, p_key text, p_hash bytea, p_grace_seconds integer, p_person uuid, p_actor text)
RETURNS TABLE (key_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    graced boolean;
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    PERFORM FROM organizations WHERE id = p_organization AND state = 'active' FOR SHARE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM FROM api_keys
    WHERE organization_id = p_organization AND revoked_at IS NULL AND expires_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    graced := p_grace_seconds > 0 AND NOT EXISTS (
        SELECT FROM api_keys
        WHERE organization_id = p_organization AND revoked_at IS NULL AND expires_at > statement_timestamp());
    UPDATE api_keys SET
        revoked_at = CASE WHEN NOT graced THEN statement_timestamp() END,
        expires_at = CASE WHEN graced THEN statement_timestamp() + make_interval(secs => p_grace_seconds) END
    WHERE organization_id = p_organization AND revoked_at IS NULL AND expires_at IS NULL;
    INSERT INTO api_keys (key_id, organization_id, secret_hash) VALUES (p_key, p_organization, p_hash);
    PERFORM write_audit(p_organization, p_person, p_actor, 'key.rotated',
                        p_key || CASE WHEN graced THEN ', grace ' || p_grace_seconds || ' s' ELSE '' END);
    RETURN QUERY SELECT p_key;
END $$;

CREATE FUNCTION revoke_keys(p_organization uuid, p_person uuid, p_actor text) RETURNS TABLE (key_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    FOR key_id IN
        UPDATE api_keys SET revoked_at = statement_timestamp()
        WHERE organization_id = p_organization AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > statement_timestamp())
        RETURNING key_id
    LOOP
        PERFORM write_audit(p_organization, p_person, p_actor, 'key.revoked', key_id);
        RETURN NEXT;
    END LOOP;
END $$;

-- Whoever knows the keyed hash of a key holds the key; nothing else is asked.
CREATE FUNCTION revoke_leaked_key(p_key text, p_hash bytea) RETURNS TABLE (key_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    owner_id uuid;
BEGIN
    UPDATE api_keys SET revoked_at = statement_timestamp()
    WHERE key_id = p_key AND secret_hash = p_hash AND revoked_at IS NULL RETURNING organization_id INTO owner_id;
    IF owner_id IS NOT NULL THEN
        PERFORM write_audit(owner_id, NULL, 'a holder of the key', 'key.reported-leaked', p_key);
        RETURN QUERY SELECT p_key;
    END IF;
END $$;

-- Members -----------------------------------------------------------------------------------------------------------

-- From the role that the actor saw (p_from) to the new one; the last owner stays one. The organization's row is locked,
-- or two owners who demote each other at the same moment would both succeed.
CREATE FUNCTION change_role(
    p_organization uuid, p_member uuid, p_role text, p_from text, p_person uuid, p_actor text)
RETURNS TABLE (person_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person,
                      CASE WHEN 'owner' IN (p_role, p_from) THEN ARRAY['owner'] ELSE ARRAY['owner', 'admin'] END);
    PERFORM FROM organizations WHERE id = p_organization FOR NO KEY UPDATE;
    UPDATE members m SET role = p_role
    WHERE m.organization_id = p_organization AND m.person_id = p_member AND m.role = p_from AND m.role <> p_role
      AND (m.role <> 'owner' OR (SELECT count(*) FROM members o
                                 WHERE o.organization_id = p_organization AND o.role = 'owner') > 1);
    IF FOUND THEN
        PERFORM write_audit(p_organization, p_person, p_actor, 'member.role-changed',
                            (SELECT name FROM people WHERE id = p_member) || ': ' || p_from || ' to ' || p_role);
        RETURN QUERY SELECT p_member::text;
    END IF;
END $$;

CREATE FUNCTION remove_member(p_organization uuid, p_member uuid, p_role text, p_person uuid, p_actor text)
RETURNS TABLE (person_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person,
                      CASE WHEN p_member = p_person THEN ARRAY['owner', 'admin', 'member', 'viewer']
                           WHEN p_role = 'owner' THEN ARRAY['owner'] ELSE ARRAY['owner', 'admin'] END);
    PERFORM FROM organizations WHERE id = p_organization FOR NO KEY UPDATE;
    DELETE FROM members m WHERE m.organization_id = p_organization AND m.person_id = p_member AND m.role = p_role
      AND (m.role <> 'owner' OR (SELECT count(*) FROM members o
                                 WHERE o.organization_id = p_organization AND o.role = 'owner') > 1);
    IF FOUND THEN
        PERFORM write_audit(p_organization, p_person, p_actor, 'member.removed',
                            (SELECT name FROM people WHERE id = p_member));
        RETURN QUERY SELECT p_member::text;
    END IF;
END $$;

-- A new invitation to the same address replaces the open one; its link stops working.
CREATE FUNCTION invite_member(
    p_organization uuid, p_email text, p_role text, p_hash bytea, p_person uuid, p_actor text)
RETURNS TABLE (id text, expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    UPDATE invitations SET revoked_at = statement_timestamp()
    WHERE organization_id = p_organization AND lower(email) = lower(p_email) AND accepted_at IS NULL AND revoked_at IS NULL;
    RETURN QUERY
    INSERT INTO invitations AS i (organization_id, email, role, secret_hash, expires_at)
    VALUES (p_organization, p_email, p_role, p_hash, statement_timestamp() + interval '7 days')
    RETURNING i.id::text, i.expires_at;
    PERFORM write_audit(p_organization, p_person, p_actor, 'member.invited', p_email || ' as ' || p_role);
END $$;

CREATE FUNCTION withdraw_invitation(p_organization uuid, p_invitation uuid, p_person uuid, p_actor text)
RETURNS TABLE (email text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    UPDATE invitations i SET revoked_at = statement_timestamp()
    WHERE i.id = p_invitation AND i.organization_id = p_organization AND i.accepted_at IS NULL AND i.revoked_at IS NULL
    RETURNING i.email INTO email;
    IF email IS NOT NULL THEN
        PERFORM write_audit(p_organization, p_person, p_actor, 'invitation.withdrawn', email);
        RETURN NEXT;
    END IF;
END $$;

-- Once, by the person for whom the transaction works; the address is the one that the provider verified, from our table.
CREATE FUNCTION accept_invitation(p_hash bytea, p_person uuid) RETURNS TABLE (organization_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    taken invitations;
BEGIN
    IF p_person IS DISTINCT FROM context_person() THEN
        RAISE insufficient_privilege USING MESSAGE = 'the acting person may not do this';
    END IF;
    UPDATE invitations i SET accepted_at = statement_timestamp()
    WHERE i.secret_hash = p_hash AND i.accepted_at IS NULL AND i.revoked_at IS NULL
      AND i.expires_at > statement_timestamp()
      AND lower(i.email) = (SELECT lower(p.email) FROM people p WHERE p.id = p_person AND p.email_verified)
    RETURNING i.* INTO taken;
    IF taken.id IS NOT NULL THEN
        INSERT INTO members (organization_id, person_id, role) VALUES (taken.organization_id, p_person, taken.role)
        ON CONFLICT (organization_id, person_id) DO NOTHING;
        PERFORM write_audit(taken.organization_id, p_person, '', 'member.joined', taken.role);
        RETURN QUERY SELECT taken.organization_id::text;
    END IF;
END $$;

-- Plans: as before, for the acting person alone ------------------------------------------------------------------------

CREATE FUNCTION ask_for_plan(p_organization uuid, p_plan text, p_person uuid, p_actor text, p_at_once boolean)
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
        PERFORM write_audit(p_organization, p_person, p_actor, 'plan.changed', asked.name);
    ELSE
        INSERT INTO plan_requests (organization_id, plan, requested_by) VALUES (p_organization, asked.name, p_person)
        ON CONFLICT (organization_id) WHERE decision IS NULL DO NOTHING RETURNING id::text INTO request_id;
        IF request_id IS NULL THEN
            refusal := 'waiting';
        ELSE
            PERFORM write_audit(p_organization, p_person, p_actor, 'plan.requested', asked.name);
        END IF;
    END IF;
    RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION ask_for_plan(uuid, text, uuid, text, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION request_plan(p_organization uuid, p_plan text, p_person uuid, p_actor text, p_at_once boolean)
RETURNS TABLE (granted_plan text, request_id text, refusal text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner']);
    RETURN QUERY SELECT a.granted_plan, a.request_id, a.refusal
                 FROM ask_for_plan(p_organization, p_plan, p_person, p_actor, p_at_once) a;
END $$;

CREATE OR REPLACE FUNCTION create_organization(
    p_name text, p_plan text, p_person uuid, p_actor text, p_owned_max integer, p_at_once boolean)
RETURNS TABLE (organization_id text, granted_plan text, request_id text, refusal text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    made uuid;
    outcome record;
BEGIN
    IF p_person IS DISTINCT FROM context_person() THEN
        RAISE insufficient_privilege USING MESSAGE = 'the acting person may not do this';
    END IF;
    PERFORM FROM people WHERE id = p_person FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM organizations o WHERE o.created_by = p_person OR EXISTS (
            SELECT FROM members m WHERE m.organization_id = o.id AND m.person_id = p_person AND m.role = 'owner'))
            >= p_owned_max THEN
        RETURN QUERY SELECT NULL::text, NULL::text, NULL::text, 'too-many';
        RETURN;
    END IF;
    INSERT INTO organizations (name, plan, created_by) VALUES (p_name, 'free', p_person) RETURNING id INTO made;
    INSERT INTO members (organization_id, person_id, role) VALUES (made, p_person, 'owner');
    PERFORM write_audit(made, p_person, p_actor, 'organization.created', 'free');
    SELECT * INTO outcome FROM ask_for_plan(made, p_plan, p_person, p_actor, p_at_once);
    RETURN QUERY SELECT made::text, outcome.granted_plan, outcome.request_id, nullif(outcome.refusal, 'has-it');
END $$;

-- The chain of audit rows ------------------------------------------------------------------------------------------------

ALTER TABLE audit ADD COLUMN number bigint, ADD COLUMN hash bytea;
-- The last row of each organization: what shows that rows are missing at the end. The edge has no right to it.
CREATE TABLE audit_heads (
    organization_id uuid PRIMARY KEY REFERENCES organizations,
    number bigint NOT NULL DEFAULT 0,
    hash bytea NOT NULL DEFAULT ''
);

-- SHA-256 over the hash before and each field with its length in bytes, so that no two rows are spelled alike.
CREATE FUNCTION audit_hash(
    p_before bytea, p_number bigint, p_organization uuid, p_id uuid, p_at timestamptz, p_actor_id uuid, p_actor text,
    p_act text, p_subject text)
RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT sha256(p_before || convert_to(string_agg(octet_length(field) || ':' || field, ',' ORDER BY place), 'UTF8'))
    FROM unnest(ARRAY[p_number::text, p_organization::text, p_id::text,
                      (extract(epoch FROM p_at) * 1000000)::bigint::text, coalesce(p_actor_id::text, ''), p_actor, p_act,
                      p_subject]) WITH ORDINALITY f (field, place)
$$;

CREATE FUNCTION chain_audit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    head audit_heads;
BEGIN
    INSERT INTO audit_heads (organization_id) VALUES (NEW.organization_id) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_heads WHERE organization_id = NEW.organization_id FOR UPDATE;
    NEW.number := head.number + 1;
    NEW.hash := audit_hash(head.hash, NEW.number, NEW.organization_id, NEW.id, NEW.at, NEW.actor_id, NEW.actor, NEW.act,
                           NEW.subject);
    UPDATE audit_heads SET number = NEW.number, hash = NEW.hash WHERE organization_id = NEW.organization_id;
    RETURN NEW;
END $$;

DO $$
DECLARE
    entry audit;
    head audit_heads;
BEGIN
    FOR entry IN SELECT * FROM audit ORDER BY organization_id, id LOOP
        INSERT INTO audit_heads (organization_id) VALUES (entry.organization_id) ON CONFLICT DO NOTHING;
        SELECT * INTO head FROM audit_heads WHERE organization_id = entry.organization_id;
        UPDATE audit_heads SET number = head.number + 1,
            hash = audit_hash(head.hash, head.number + 1, entry.organization_id, entry.id, entry.at, entry.actor_id,
                              entry.actor, entry.act, entry.subject)
        WHERE organization_id = entry.organization_id RETURNING * INTO head;
        UPDATE audit SET number = head.number, hash = head.hash WHERE id = entry.id;
    END LOOP;
END $$;
CREATE TRIGGER audit_chained BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION chain_audit();

REVOKE ALL ON FUNCTION find_api_key(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION find_public_token(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION organization_rank(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION join_person(text, text, text, text, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION issue_key(uuid, text, bytea, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION rotate_key(uuid, text, bytea, integer, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION revoke_keys(uuid, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION revoke_leaked_key(text, bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION change_role(uuid, uuid, text, text, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION remove_member(uuid, uuid, text, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION invite_member(uuid, text, text, bytea, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION withdraw_invitation(uuid, uuid, uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION accept_invitation(bytea, uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION chain_audit() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    find_api_key(text), find_public_token(text), organization_rank(text),
    join_person(text, text, text, text, boolean), issue_key(uuid, text, bytea, uuid, text),
    rotate_key(uuid, text, bytea, integer, uuid, text), revoke_keys(uuid, uuid, text), revoke_leaked_key(text, bytea),
    change_role(uuid, uuid, text, text, uuid, text), remove_member(uuid, uuid, text, uuid, text),
    invite_member(uuid, text, text, bytea, uuid, text), withdraw_invitation(uuid, uuid, uuid, text),
    accept_invitation(bytea, uuid)
TO itemindex_edge;
