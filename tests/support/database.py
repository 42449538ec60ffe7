"""The database of a test, as its owner sees it."""

from typing import Any

import psycopg

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings

# Of the database that was asked last: to open it costs more than most statements do.
_sessions: dict[str, Connection] = {}


def execute(settings: Settings, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement in a transaction of its own, and return its rows."""
    session = owner(settings)
    try:
        cursor = session.execute(query, values or None)
    except psycopg.OperationalError:
        if not session.closed:
            raise
        cursor = owner(settings).execute(query, values or None)  # a test of an outage had ended the session
    return cursor.fetchall() if cursor.description else []


def owner(settings: Settings) -> Connection:
    """Return the session of the owner that lasts as long as the test: each statement is a transaction of its own."""
    url = settings.database_url
    if url not in _sessions or _sessions[url].closed:
        end_session()
        _sessions[url] = connect(url, application="tests", autocommit=True)
    return _sessions[url]


def end_session() -> None:
    """End the owner's session: none may be open to a database that is copied or dropped."""
    while _sessions:
        _sessions.popitem()[1].close()
