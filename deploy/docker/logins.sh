#!/bin/sh
# Runs once, when the database is made: the roles of the edge and of the workers, each with a login of its own.
set -eu
for role in edge worker; do
    psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
        --set=role="itemindex_$role" --set=login="itemindex_${role}_login" \
        --set=password="$(cat "/run/secrets/${role}_password")" <<'SQL'
CREATE ROLE :"role";
CREATE ROLE :"login" LOGIN PASSWORD :'password' IN ROLE :"role";
SQL
done
