"""Connections of the sync side (workers, command line): the role of each, and which errors are an outage."""

import os

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from shared.db.queries import load_queries
from shared.errors import ConfigurationError

# Whole classes of SQLSTATE: connection lost, authorization refused, transaction rolled back (serialization, deadlock),
# resources exhausted (disk, connections), broken off by an operator or a time-out, input and output of the server.
_CLASSES = ("08", "28", "40", "53", "57", "58")
# Read-only (a standby, or a primary that was demoted), a session ended for being idle or too slow, a database that is
# not there (yet), a lock that was not granted in time.
_STATES = ("25006", "25P03", "25P04", "3D000", "55P03")
# A table, a column or a function that is not there.
_UNDEFINED = ("42P01", "42703", "42883")
_ROLLED_BACK = "40"
READ_ONLY = "25006"

# Casts between days and moments go by the session's time zone, the driver reads dates in one style: a server's own may
# be any.
SESSION = {"timezone": "UTC", "datestyle": "ISO"}
# libpq sends them after the options, so that they would count.
OVERRIDING = ("PGTZ", "PGDATESTYLE")
# A host that was cut off does not end its connections. Without these a worker would wait a quarter of an hour for an
# answer to what it has sent, and for ever for one that it was owed. A value in the address overrides them.
_ALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def is_outage(sqlstate: str | None) -> bool:
    """Return whether an error with this SQLSTATE is PostgreSQL's outage rather than the statement's fault."""
    return sqlstate is not None and (sqlstate[:2] in _CLASSES or sqlstate in _STATES)


def was_rolled_back(sqlstate: str | None) -> bool:
    """Return whether PostgreSQL undid the statement because of another transaction: it may be sent again at once."""
    return sqlstate is not None and sqlstate.startswith(_ROLLED_BACK)


SQL = load_queries(__file__, "role.sql")


def refuse_owner(edge_database_url: str) -> None:
    """Raise ConfigurationError where the edge's role owns the schema or is a superuser.

    Returns where PostgreSQL does not answer: a part must start without it, and `itemindex doctor` asks again.
    """
    row = _ask(edge_database_url, SQL.owns)
    if row is not None and row[1]:
        raise ConfigurationError(
            f"EDGE_DATABASE_URL connects as {row[0]}, who owns the schema; use a login in the role itemindex_edge"
        )


def refuse_empty(url: str) -> None:
    """Raise ConfigurationError where the database has no schema. Returns where PostgreSQL does not answer."""
    row = _ask(url, SQL.has_schema)
    if row is not None and not row[0]:
        raise ConfigurationError("the database has no schema; run `itemindex migrate` first, as its owner")


def _ask(url: str, query: str) -> TupleRow | None:
    """Return the query's row; None where PostgreSQL does not answer."""
    try:
        with connect(url, application="start") as connection:
            return connection.execute(query).fetchone()
    except psycopg.Error as error:
        if unavailable(error):
            return None
        raise


def lacks_schema(error: BaseException) -> bool:
    """Return whether an error means that the database has no schema, or one of an earlier version."""
    return getattr(error, "sqlstate", None) in _UNDEFINED


Row = TupleRow
"""A row of a statement; each caller knows the types of its columns."""
Connection = psycopg.Connection[Row]


def connect(url: str, *, application: str, autocommit: bool = False) -> Connection:
    """Open a connection whose cursors speak `$1` placeholders, so both tiers run the same SQL text.

    A server that falls silent is given up after 10 s or so. Raises ConfigurationError when no address is set,
    psycopg.OperationalError if no server answers within 5 s.
    """
    if not url:
        raise ConfigurationError("DATABASE_URL must be set; `itemindex up` sets it for the embedded stack")
    named: dict[str, str | int | None] = {**_ALIVE, **conninfo_to_dict(url)}
    for variable in OVERRIDING:
        os.environ.pop(variable, None)
    session = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
    named |= {"options": f"{named.get('options', '')} {session}", "client_encoding": "utf8"}
    conninfo = make_conninfo("", **{**named, "application_name": f"itemindex-{application}"})
    connection: Connection = psycopg.connect(conninfo, autocommit=autocommit, cursor_factory=psycopg.RawCursor)
    return connection


def unavailable(error: BaseException) -> bool:
    """Return whether a driver's error means that PostgreSQL is unavailable, read-only, or undid what was sent.

    Both psycopg and asyncpg name the SQLSTATE. An OperationalError without one never came from the server: the
    connection was refused, lost, or is closed.
    """
    sqlstate: str | None = getattr(error, "sqlstate", None)
    return is_outage(sqlstate) or (sqlstate is None and isinstance(error, psycopg.OperationalError))
