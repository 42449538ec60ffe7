-- phase: expand
-- No part of the service uses large objects. An injected statement could fill the disk with them, so PUBLIC may not.

DO $$
DECLARE
    called text;
BEGIN
    FOR called IN SELECT oid::regprocedure::text FROM pg_proc
                  WHERE pronamespace = 'pg_catalog'::regnamespace AND (proname LIKE 'lo\_%' OR proname IN ('loread', 'lowrite')) LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', called);
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'the owner may not take large objects from PUBLIC: see deploy/guides/operate.md';
END $$;
