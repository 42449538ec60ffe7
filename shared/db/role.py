"""Which role a part connects as: one that callers reach must not own the schema."""

import psycopg

from shared.db.connect import connect, unavailable
from shared.db.queries import beside
from shared.errors import ConfigurationError

SQL = beside(__file__, "role.sql")


def refuse_owner(url: str, variable: str) -> None:
    """Raise ConfigurationError where the address's role owns the schema or is a superuser.

    Returns where PostgreSQL does not answer: a part must start without it, and `itemindex doctor` asks again.
    """
    try:
        with connect(url, application="start") as connection:
            row = connection.execute(SQL.owns).fetchone()
    except psycopg.Error as error:
        if unavailable(error):
            return
        raise
    if row is not None and row[1]:
        raise ConfigurationError(
            f"{variable} connects as {row[0]}, who owns the schema; use a login in the role itemindex_edge"
        )
