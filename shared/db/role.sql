-- name: owns
-- Whether this role could change or bypass the schema: a part with callers must not.
SELECT current_user::text AS role,
       rolsuper OR rolbypassrls OR coalesce((
           SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = to_regclass('organizations')
       ), false) AS owns
FROM pg_roles WHERE rolname = current_user
