"""Which organization or person a command names: by id, or by what people call them where that is unique."""

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError

ACCOUNTS = load_queries(__file__, "accounts.sql")

_LISTED_MAX = 5


def organization_of(connection: Connection, text: str) -> str:
    """Return the id of the organization with this id or name. Raises ItemIndexError unless there is exactly one."""
    rows = [str(row[0]) for row in connection.execute(ACCOUNTS.organizations_called, (text,)).fetchall()]
    if not rows:
        raise ItemIndexError("there is no organization of this id or name; see `itemindex orgs list`")
    if len(rows) > 1:
        some = ", ".join(rows[:_LISTED_MAX])
        raise ItemIndexError(f"{len(rows)} organizations have this name; use an id: {some}")
    return rows[0]


def person_of(connection: Connection, text: str) -> str:
    """Return the id of the person with this id or e-mail address. Raises ItemIndexError unless there is one."""
    rows = [str(row[0]) for row in connection.execute(ACCOUNTS.people_called, (text,)).fetchall()]
    if len(rows) != 1:
        raise ItemIndexError("name one person who has signed in, by id or address; see `itemindex people list`")
    return rows[0]
