-- phase: expand
-- Revoking all keys waits for a rotation that is under way: that would have made a key which the revocation did not see,
-- and which worked on. The rotation holds the organization's row FOR SHARE; what waited for it sees the new key.

CREATE OR REPLACE FUNCTION revoke_keys(p_organization uuid, p_person uuid, p_actor text) RETURNS TABLE (key_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM authorize(p_organization, p_person, ARRAY['owner', 'admin']);
    PERFORM FROM organizations WHERE id = p_organization FOR NO KEY UPDATE;
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
