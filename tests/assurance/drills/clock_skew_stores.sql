-- name: schema
-- What stands before pg_catalog, so that PostgreSQL's own functions are found under another schema's name first.
CREATE SCHEMA stepped;

-- name: offset
-- One row: how far the clock is ahead. Sessions that are open see a step at once, as they would see the host's.
CREATE TABLE stepped.clock AS SELECT interval '0' AS ahead;

-- name: now
-- Stable as the original is: the planner may use it for an index.
CREATE FUNCTION stepped.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT pg_catalog.now() + ahead FROM stepped.clock';

-- name: transaction_timestamp
-- The standard's name of the same.
CREATE FUNCTION stepped.transaction_timestamp() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT pg_catalog.now() + ahead FROM stepped.clock';

-- name: statement_timestamp
-- What leases, pauses and expiry are counted from.
CREATE FUNCTION stepped.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT pg_catalog.statement_timestamp() + ahead FROM stepped.clock';

-- name: clock_timestamp
-- What readiness compares with the edge's clock.
CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
    AS 'SELECT pg_catalog.clock_timestamp() + ahead FROM stepped.clock';

-- name: install
-- A default or a policy holds the function that it was made with, and a function may have a path of its own: all are made
-- anew. The texts are read under the usual path, where PostgreSQL writes no schema before its functions. A new session
-- has the path; the tables that it makes are still made in public.
CREATE FUNCTION stepped.install() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    command text;
    commands text[];
BEGIN
    PERFORM set_config('search_path', 'public, pg_catalog', true);
    SELECT array_agg(c) INTO commands FROM (
        SELECT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', d.adrelid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid))
        FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE a.attgenerated = '' AND pg_get_expr(d.adbin, d.adrelid) ~ '(now|_timestamp)\(\)'
        UNION ALL
        SELECT format('ALTER POLICY %I ON %I USING (%s)', policyname, tablename, qual)
        FROM pg_policies WHERE schemaname = 'public' AND qual ~ '(now|_timestamp)\(\)'
        UNION ALL
        SELECT format('ALTER FUNCTION %s SET search_path = stepped, pg_catalog, public, pg_temp', p.oid::regprocedure)
        FROM pg_proc p, unnest(p.proconfig) AS setting
        WHERE p.pronamespace = 'public'::regnamespace AND setting LIKE 'search_path=%' AND p.prosrc ~ '(now|_timestamp)\(\)'
    ) AS found (c);
    PERFORM set_config('search_path', 'public, stepped, pg_catalog', true);
    FOREACH command IN ARRAY commands LOOP
        EXECUTE command;
    END LOOP;
    EXECUTE format('ALTER DATABASE %I SET search_path = public, stepped, pg_catalog', current_database());
    GRANT USAGE ON SCHEMA stepped TO PUBLIC;
    GRANT SELECT ON stepped.clock TO PUBLIC;
END $$;

-- name: shadow
-- In the one transaction that made what it needs.
SELECT stepped.install();

-- name: step
-- From now on the clock is so many seconds ahead.
UPDATE stepped.clock SET ahead = make_interval(secs => $1);
