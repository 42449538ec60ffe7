"""Connections of the sync side (workers, command line). The edge has its own asyncpg pool."""

from typing import Any

import psycopg

from shared.errors import ConfigurationError

Connection = psycopg.Connection[tuple[Any, ...]]


def connect(url: str, *, application: str, autocommit: bool = False) -> Connection:
    """Open a connection whose cursors speak `$1` placeholders, so both tiers run the same SQL text.

    Raises ConfigurationError when no address is set, psycopg.OperationalError when nobody answers within 5 s.
    """
    if not url:
        raise ConfigurationError("DATABASE_URL must be set; `itemindex up` sets it for the embedded stack")
    connection: Connection = psycopg.connect(
        url,
        autocommit=autocommit,
        application_name=f"itemindex-{application}",
        connect_timeout=5,
        cursor_factory=psycopg.RawCursor,
    )
    return connection
