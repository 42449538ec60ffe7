-- phase: expand
-- Who reads a replica: the tables that reports read, and nothing of organizations, keys or jobs. Roles and their logins
-- are made on the primary; a streaming replica has them too.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'itemindex_analytics') THEN
        CREATE ROLE itemindex_analytics NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- another database of the same server made it at the same moment
END $$;

GRANT SELECT ON data_versions, channels, brands, categories, items, impacts, impact_factors, cells TO itemindex_analytics;
