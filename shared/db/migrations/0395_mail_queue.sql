-- phase: expand
-- Mails that tell somebody of one thing: each is a row, written in the transaction of what it tells of, and sent like a
-- webhook. Alerts stay with `webhook_endpoints`, which has one row for a member and tells of many events in one mail.

ALTER TABLE invitations ADD COLUMN invited_by text;
COMMENT ON COLUMN invitations.invited_by IS 'the name of the member who invited; null: before it was kept';

CREATE TABLE mail_choices (
    organization_id uuid NOT NULL,
    person_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('export', 'plan', 'quota', 'report', 'webhook')),
    wanted boolean NOT NULL,
    PRIMARY KEY (organization_id, person_id, kind),
    FOREIGN KEY (organization_id, person_id) REFERENCES members (organization_id, person_id) ON DELETE CASCADE
);
COMMENT ON TABLE mail_choices IS 'which mails a member wants or refuses; no row: as the kind is by default';

CREATE TABLE mail_queue (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    kind text NOT NULL CHECK (kind IN ('export', 'invitation', 'key', 'plan', 'quota', 'report', 'webhook')),
    person_id uuid,
    invitation_id uuid REFERENCES invitations (id) ON DELETE CASCADE,
    sealed_secret bytea,
    data jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    due_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    failures integer NOT NULL DEFAULT 0,
    lease_no bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    ended_at timestamptz,
    refusal text,
    FOREIGN KEY (organization_id, person_id) REFERENCES members (organization_id, person_id) ON DELETE CASCADE,
    CHECK ((person_id IS NULL) = (kind = 'invitation')),
    CHECK ((invitation_id IS NOT NULL) = (kind = 'invitation'))
);
COMMENT ON COLUMN mail_queue.sealed_secret IS 'the secret of an invitation, encrypted; null once the mail has ended';
COMMENT ON COLUMN mail_queue.ended_at IS 'when it was sent or refused for good';
COMMENT ON COLUMN mail_queue.refusal IS 'why it was not sent; null: it was';
CREATE INDEX mail_queue_due ON mail_queue (due_at) WHERE ended_at IS NULL;
CREATE INDEX mail_queue_created ON mail_queue (created_at);
CREATE INDEX mail_queue_person ON mail_queue (organization_id, person_id);
CREATE INDEX mail_queue_invitation ON mail_queue (invitation_id) WHERE invitation_id IS NOT NULL;

-- Whether there is still somebody who is to have it: an address that the identity provider vouches for, of a member who has
-- not refused such mails meanwhile, or an invitation that can be accepted.
CREATE FUNCTION mail_has_recipient(mail mail_queue) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN mail.person_id IS NULL THEN EXISTS (
        SELECT FROM invitations i WHERE i.id = mail.invitation_id AND i.accepted_at IS NULL AND i.revoked_at IS NULL
          AND i.expires_at > statement_timestamp())
    ELSE EXISTS (SELECT FROM people p WHERE p.id = mail.person_id AND p.email_verified)
     AND NOT EXISTS (
        SELECT FROM mail_choices c WHERE c.organization_id = mail.organization_id AND c.person_id = mail.person_id
          AND c.kind = mail.kind AND NOT c.wanted)
    END
$$;

-- One mail for each member whom a kind concerns. Notices of keys cannot be refused; those of exports must be asked for.
CREATE FUNCTION queue_mails(p_organization uuid, p_kind text, p_data jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
    INSERT INTO mail_queue (organization_id, kind, person_id, data)
    SELECT p_organization, p_kind, m.person_id, p_data
    FROM members m LEFT JOIN mail_choices c
        ON c.organization_id = m.organization_id AND c.person_id = m.person_id AND c.kind = p_kind
    WHERE m.organization_id = p_organization AND CASE p_kind
        WHEN 'key' THEN m.role IN ('owner', 'admin')
        WHEN 'export' THEN coalesce(c.wanted, false)
        WHEN 'plan' THEN m.role = 'owner' AND coalesce(c.wanted, true)
        ELSE m.role IN ('owner', 'admin') AND coalesce(c.wanted, true) END
$$;

CREATE FUNCTION queue_mails_of_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    PERFORM queue_mails(NEW.organization_id, split_part(NEW.type, '.', 1), NEW.data || jsonb_build_object('type', NEW.type));
    RETURN NULL;
END $$;
CREATE TRIGGER event_log_mailed AFTER INSERT ON event_log FOR EACH ROW
    WHEN (NEW.type IN ('export.ready', 'key.revoked', 'key.rotated', 'quota.reached', 'webhook.disabled'))
    EXECUTE FUNCTION queue_mails_of_event();

-- At the end of the statement, which also gives the plan.
CREATE FUNCTION queue_mails_of_plan() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    PERFORM queue_mails(NEW.organization_id, 'plan', jsonb_build_object(
        'decision', NEW.decision, 'requested', (SELECT title FROM plans WHERE name = NEW.plan),
        'plan', (SELECT p.title FROM organizations o JOIN plans p ON p.name = o.plan WHERE o.id = NEW.organization_id)));
    RETURN NULL;
END $$;
CREATE TRIGGER plan_requests_mailed AFTER UPDATE OF decision ON plan_requests FOR EACH ROW
    WHEN (OLD.decision IS NULL AND NEW.decision IS NOT NULL) EXECUTE FUNCTION queue_mails_of_plan();

-- Who had asked for alerts was also mailed of exports, keys, quotas and webhooks: those are now mails of their own.
INSERT INTO mail_choices (organization_id, person_id, kind, wanted)
SELECT organization_id, person_id, 'export', true FROM webhook_endpoints
WHERE person_id IS NOT NULL AND 'export.ready' = ANY (types);
UPDATE webhook_endpoints SET types = ARRAY['watch.fired'] WHERE person_id IS NOT NULL;

CREATE OR REPLACE FUNCTION invite_member(p_organization uuid, p_email text, p_role text, p_hash bytea, p_person uuid, p_actor text)
RETURNS TABLE (id text, expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    UPDATE invitations SET revoked_at = statement_timestamp()
    WHERE organization_id = p_organization AND lower(email) = lower(p_email) AND accepted_at IS NULL AND revoked_at IS NULL;
    RETURN QUERY
    INSERT INTO invitations AS i (organization_id, email, role, secret_hash, expires_at, invited_by)
    VALUES (p_organization, p_email, p_role, p_hash, statement_timestamp() + interval '7 days',
            coalesce((SELECT p.name FROM people p WHERE p.id = p_person), p_actor))
    RETURNING i.id::text, i.expires_at;
    PERFORM write_audit(p_organization, p_person, p_actor, 'member.invited', p_email || ' as ' || p_role);
END $$;

-- What an invitation is for, by the secret of its link: only while it can be accepted.
CREATE FUNCTION show_invitation(p_hash bytea)
RETURNS TABLE (organization text, role text, email text, invited_by text, expires_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
    SELECT o.name, i.role, i.email, i.invited_by, i.expires_at FROM invitations i JOIN organizations o ON o.id = i.organization_id
    WHERE i.secret_hash = p_hash AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > statement_timestamp()
$$;

ALTER TABLE mail_choices ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_mail_choices ON mail_choices TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) AND person_id = (SELECT context_person()))
    WITH CHECK (organization_id = (SELECT context_organization()) AND person_id = (SELECT context_person()));
CREATE POLICY worker_mail_choices ON mail_choices FOR SELECT TO itemindex_worker USING (true);
ALTER TABLE mail_queue ENABLE ROW LEVEL SECURITY;
-- The edge writes invitations alone; what a member's mails tell of is written by the triggers above.
CREATE POLICY edge_mail_queue ON mail_queue FOR INSERT TO itemindex_edge
    WITH CHECK (organization_id = (SELECT context_organization()) AND kind = 'invitation');
CREATE POLICY edge_mail_queue_read ON mail_queue FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) AND kind = 'invitation');
CREATE POLICY worker_mail_queue ON mail_queue TO itemindex_worker USING (true) WITH CHECK (true);
CREATE POLICY worker_invitations_mailed ON invitations FOR SELECT TO itemindex_worker USING (true);
GRANT SELECT, INSERT, UPDATE (wanted) ON mail_choices TO itemindex_edge;
GRANT SELECT ON mail_choices TO itemindex_worker;
GRANT INSERT (organization_id, kind, invitation_id, sealed_secret) ON mail_queue TO itemindex_edge;
GRANT SELECT (invitation_id, ended_at, refusal) ON mail_queue TO itemindex_edge;
GRANT SELECT, UPDATE, DELETE ON mail_queue TO itemindex_worker;
GRANT SELECT (id, email, role, invited_by) ON invitations TO itemindex_worker;
REVOKE ALL ON FUNCTION queue_mails(uuid, text, jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION queue_mails_of_event() FROM PUBLIC;
REVOKE ALL ON FUNCTION queue_mails_of_plan() FROM PUBLIC;
REVOKE ALL ON FUNCTION show_invitation(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION show_invitation(bytea) TO itemindex_edge;
