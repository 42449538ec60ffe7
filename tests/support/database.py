"""The database of a test, as its owner sees it."""

from typing import Any

from shared.db.connect import connect
from shared.settings.settings import Settings


def execute(settings: Settings, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        cursor = connection.execute(query, values or None)
        return cursor.fetchall() if cursor.description else []
