-- phase: expand
-- A member who accepts an invitation keeps the role that they have; the audit log says `member.joined` only where a member
-- was added. The invitation is used up either way.

CREATE OR REPLACE FUNCTION accept_invitation(p_hash bytea, p_person uuid) RETURNS TABLE (organization_id text)
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
        IF FOUND THEN
            PERFORM write_audit(taken.organization_id, p_person, '', 'member.joined', taken.role);
        END IF;
        RETURN QUERY SELECT taken.organization_id::text;
    END IF;
END $$;
