"""PostgreSQL in states of outage, for one test's database only: other databases of the server work on."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from shared.settings.settings import Settings


@contextmanager
def read_only(settings: Settings) -> Iterator[None]:
    """Let the database accept no changes while the block runs, as after a failover: every session begins anew."""
    _begin_anew(settings, "SET default_transaction_read_only = on")
    try:
        yield
    finally:
        _begin_anew(settings, "RESET default_transaction_read_only")


@contextmanager
def refusing(settings: Settings) -> Iterator[None]:
    """Let the database take no connection while the block runs; those that there are end."""
    with _connection(settings) as connection:
        name = sql.Identifier(str(conninfo_to_dict(settings.database_url)["dbname"]))
        connection.execute(sql.SQL("ALTER DATABASE {} CONNECTION LIMIT 0").format(name))
        try:
            _end_others(connection)
            yield
        finally:
            connection.execute(sql.SQL("ALTER DATABASE {} CONNECTION LIMIT -1").format(name))


def raising(settings: Settings, sqlstate: str, times: int) -> str:
    """Make the function `raise_sometimes()`, which raises this SQLSTATE `times` times and then returns 1; its call.

    A sequence counts the calls: it keeps its value when a transaction is rolled back.
    """
    with _connection(settings) as connection:
        connection.execute("DROP SEQUENCE IF EXISTS raised")
        connection.execute("CREATE SEQUENCE raised")
        connection.execute(
            sql.SQL(
                """CREATE OR REPLACE FUNCTION raise_sometimes() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
                BEGIN
                    IF nextval('raised') <= {times} THEN RAISE EXCEPTION 'an outage' USING ERRCODE = {state}; END IF;
                    RETURN 1;
                END $$"""
            ).format(times=sql.Literal(times), state=sql.Literal(sqlstate))
        )
    return "SELECT raise_sometimes() AS n"


def _begin_anew(settings: Settings, change: str) -> None:
    with _connection(settings) as connection:
        name = sql.Identifier(str(conninfo_to_dict(settings.database_url)["dbname"]))
        connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
        connection.execute(sql.SQL("ALTER DATABASE {} ").format(name) + sql.SQL(change))  # type: ignore[arg-type]
        _end_others(connection)


def _end_others(connection: psycopg.Connection) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def _connection(settings: Settings) -> psycopg.Connection:
    return psycopg.connect(settings.database_url, autocommit=True)
