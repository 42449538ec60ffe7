-- phase: expand
-- An edge reads many credentials in one statement, and keeps them until a notice names them: a credential by its id, an
-- organization by its own. Other tables are named as before, and edges of before forget everything at each notice.

CREATE FUNCTION find_credentials(p_ids text[])
RETURNS TABLE (credential_id text, kind text, secret_hash bytea, plan text, organization_id text, organization_name text,
               seconds_left float8)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.key_id, 'api-key', k.secret_hash, o.plan, o.id::text, o.name,
           extract(epoch FROM k.expires_at - statement_timestamp())::float8
    FROM api_keys k JOIN organizations o ON o.id = k.organization_id
    WHERE k.key_id = ANY (p_ids) AND k.revoked_at IS NULL AND o.state = 'active'
      AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())
    UNION ALL
    SELECT t.token_id, 'public-token', t.secret_hash, 'free', NULL, NULL, NULL
    FROM public_tokens t WHERE t.token_id = ANY (p_ids) AND t.revoked_at IS NULL
$$;
REVOKE ALL ON FUNCTION find_credentials(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_credentials(text[]) TO itemindex_edge;

CREATE OR REPLACE FUNCTION tell_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A trigger of a whole statement has no row and no argument.
    PERFORM pg_notify('accounts', coalesce(to_jsonb(coalesce(NEW, OLD)) ->> TG_ARGV[0], TG_TABLE_NAME));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER api_keys_told AFTER INSERT OR DELETE OR UPDATE OF expires_at, revoked_at ON api_keys
    FOR EACH ROW EXECUTE FUNCTION tell_accounts('key_id');
CREATE OR REPLACE TRIGGER public_tokens_told AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON public_tokens
    FOR EACH ROW EXECUTE FUNCTION tell_accounts('token_id');
CREATE OR REPLACE TRIGGER organizations_told AFTER DELETE OR UPDATE ON organizations
    FOR EACH ROW EXECUTE FUNCTION tell_accounts('id');
