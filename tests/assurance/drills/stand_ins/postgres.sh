#!/bin/sh
# What the official image's entrypoint does, as far as the compose file asks: a database and its owner, the scripts of
# /docker-entrypoint-initdb.d on a server that only they reach, then the server.
set -eu
if [ "$(id -u)" = 0 ]; then
    install -d -o postgres -m 0700 "$PGDATA"
    install -o postgres -m 0400 "$POSTGRES_PASSWORD_FILE" /tmp/password
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 \
        --encoding=UTF8 --locale=C.UTF-8 --locale-provider=builtin
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
    export PGHOST=/tmp
    pg_ctl -D "$PGDATA" -o "-c listen_addresses= -k /tmp" -w start
    psql -U "$POSTGRES_USER" -d postgres -v ON_ERROR_STOP=1 -v name="$POSTGRES_DB" <<'SQL'
CREATE DATABASE :"name";
SQL
    for script in /docker-entrypoint-initdb.d/*.sh; do "$script"; done
    pg_ctl -D "$PGDATA" -w -m fast stop
    unset PGHOST
fi
# The wheel's server is built without zstd.
for option in "$@"; do
    shift
    set -- "$@" "$(printf %s "$option" | sed 's/^wal_compression=zstd$/wal_compression=pglz/')"
done
exec "$@" -k /tmp
