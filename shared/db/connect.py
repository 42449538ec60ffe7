"""Connections of the sync side (workers, command line). The edge has its own asyncpg pool."""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from shared.db.outages import is_outage
from shared.errors import ConfigurationError

Connection = psycopg.Connection[tuple[Any, ...]]
# A host that was cut off sends no farewell. Without these a worker would wait a quarter of an hour for an answer to
# what it has sent, and for ever for one that it was owed. A value in the address overrides them.
_ALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def connect(url: str, *, application: str, autocommit: bool = False) -> Connection:
    """Open a connection whose cursors speak `$1` placeholders, so both tiers run the same SQL text.

    A server that falls silent is given up after 10 s or so. Raises ConfigurationError when no address is set,
    psycopg.OperationalError if no server answers within 5 s.
    """
    if not url:
        raise ConfigurationError("DATABASE_URL must be set; `itemindex up` sets it for the embedded stack")
    named: dict[str, Any] = {**_ALIVE, **conninfo_to_dict(url)}
    connection: Connection = psycopg.connect(
        autocommit=autocommit,
        cursor_factory=psycopg.RawCursor,
        **{**named, "application_name": f"itemindex-{application}"},
    )
    return connection


def unavailable(error: BaseException) -> bool:
    """Return whether a driver's error means that PostgreSQL is unavailable, read-only, or undid what was sent.

    Both psycopg and asyncpg name the SQLSTATE. An OperationalError without one never came from the server: the
    connection was refused, lost, or is closed.
    """
    sqlstate: str | None = getattr(error, "sqlstate", None)
    return is_outage(sqlstate) or (sqlstate is None and isinstance(error, psycopg.OperationalError))
