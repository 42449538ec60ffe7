-- phase: expand
-- While TOKEN_PEPPER is rotated, the keyed hash of each credential that is used is written anew. Only in a transaction of
-- that task, and only from the hash that was just verified. It changes no right, so edges need not forget anything.

CREATE FUNCTION rehash_credential(p_id text, p_verified bytea, p_hash bytea) RETURNS TABLE (credential_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF context_task() IS DISTINCT FROM 'rehash' OR length(p_hash) <> 32 THEN
        RAISE insufficient_privilege USING MESSAGE = 'hashes are written anew while a credential is verified';
    END IF;
    RETURN QUERY
    WITH keys AS (UPDATE api_keys k SET secret_hash = p_hash WHERE k.key_id = p_id AND k.secret_hash = p_verified
                  RETURNING k.key_id),
    tokens AS (UPDATE public_tokens t SET secret_hash = p_hash WHERE t.token_id = p_id AND t.secret_hash = p_verified
               RETURNING t.token_id)
    SELECT key_id FROM keys UNION ALL SELECT token_id FROM tokens;
END $$;
REVOKE ALL ON FUNCTION rehash_credential(text, bytea, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rehash_credential(text, bytea, bytea) TO itemindex_edge;

CREATE OR REPLACE TRIGGER api_keys_told AFTER INSERT OR DELETE OR UPDATE OF expires_at, revoked_at ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();
CREATE OR REPLACE TRIGGER public_tokens_told AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON public_tokens
    FOR EACH STATEMENT EXECUTE FUNCTION tell_accounts();
