-- name: owns
-- Whether this role could change or bypass the schema: a part with callers must not.
SELECT current_user::text AS role,
       rolsuper OR rolbypassrls OR coalesce((
           SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = to_regclass('organizations')
       ), false) AS owns
FROM pg_roles WHERE rolname = current_user

-- name: has_schema
-- Whether the migrations have been applied, however far: asked without a right to any table.
SELECT to_regclass('public.data_versions') IS NOT NULL;
