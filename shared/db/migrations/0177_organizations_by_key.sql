-- phase: expand
-- Organizations are found by their primary key. Compared as texts, each download of a signed address and each note of
-- quotas read all of them. A text that is no UUID is no organization's, as before.

CREATE OR REPLACE FUNCTION organization_rank(p_organization text) RETURNS TABLE (rank smallint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT p.rank FROM organizations o JOIN plans p ON p.name = o.plan
    WHERE o.id = CASE WHEN pg_input_is_valid(p_organization, 'uuid') THEN p_organization::uuid END AND o.state = 'active'
$$;

CREATE OR REPLACE FUNCTION log_quota(p_accounts text[], p_day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF context_task() IS DISTINCT FROM 'usage' AND NOT is_operator() THEN
        RAISE insufficient_privilege USING MESSAGE = 'quotas are noted where use is counted';
    END IF;
    INSERT INTO event_log (organization_id, type, data, once)
    SELECT o.id, 'quota.reached',
           jsonb_build_object('day', p_day, 'percent', s.percent, 'used', u.units, 'limit', p.daily_units),
           'quota:' || p_day || ':' || s.percent
    FROM organizations o JOIN plans p ON p.name = o.plan,
         LATERAL (SELECT sum(units)::bigint AS units FROM usage WHERE account = 'org:' || o.id AND day = p_day) u,
         unnest(ARRAY[80, 100]) AS s (percent)
    WHERE o.id = ANY (ARRAY(
              SELECT CASE WHEN pg_input_is_valid(substr(a, 5), 'uuid') THEN substr(a, 5)::uuid END
              FROM unnest(p_accounts) AS a WHERE starts_with(a, 'org:')))
      AND u.units * 100 >= p.daily_units * s.percent
    ORDER BY o.id, s.percent
    ON CONFLICT (organization_id, once) WHERE once IS NOT NULL DO NOTHING;
END $$;
