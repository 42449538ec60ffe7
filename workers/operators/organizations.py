"""What operators decide of organizations, members and plans. Each function acts in the caller's transaction."""

from typing import Any

import psycopg
from psycopg import sql

from shared.db.connect import Connection
from shared.errors import ItemIndexError
from shared.organizations.accounts import SQL

OPERATOR = "an operator"
"""The actor that the audit log of an organization names for changes by operators of the service."""

_DECISIONS = {"approve": "approved", "decline": "declined"}
DECISIONS = tuple(_DECISIONS)
"""What becomes of a plan that an organization has requested."""


def create_organization(connection: Connection, name: str, plan: str) -> str:
    """Create an organization on a plan and return its id. Raises ItemIndexError for a name or plan it cannot have."""
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise ItemIndexError("the name must have 1 to 200 printable characters")
    row = connection.execute(SQL.create_organization_as_operator, (name, plan, OPERATOR)).fetchone()
    if row is None:
        raise ItemIndexError("there is no plan of this name for organizations; see `itemindex plans list`")
    return str(row[0])


def change_organization(
    connection: Connection, organization: str, *, plan: str | None, state: str | None, request: str | None
) -> None:
    """Change an organization's plan or state, or decide on the plan that it has requested: one of DECISIONS.

    With a decision, `plan` is another plan than was requested. Raises ItemIndexError where nothing would change.
    """
    changed: list[Any] = []
    try:
        if request:
            decision = (organization, _DECISIONS[request], plan, OPERATOR)
            changed.append(connection.execute(SQL.decide_plan, decision).fetchone())
        elif plan:
            changed.append(connection.execute(SQL.change_plan, (organization, plan, OPERATOR)).fetchone())
        if state:
            changed.append(connection.execute(SQL.change_state, (organization, state, OPERATOR)).fetchone())
    except psycopg.errors.ForeignKeyViolation:
        raise ItemIndexError("there is no such plan; see `itemindex plans list`") from None
    if None in changed:
        raise ItemIndexError("there is nothing to change; see `itemindex orgs list`")


def set_role(connection: Connection, organization: str, person: str, role: str) -> None:
    """Add a person to an organization, change a member's role, or remove one with the role `none`.

    Raises ItemIndexError for the last owner, and for the removal of a person who is no member.
    """
    named = (organization, person)
    old = next((str(row[3]) for row in connection.execute(SQL.members, named[:1]) if row[0] == person), "none")
    if old == role == "none":
        raise ItemIndexError("this person is not a member; see `itemindex people list ORGANIZATION`")
    changed: Any = True
    if old == "none":
        connection.execute(SQL.add_member, (*named, role, OPERATOR))
    elif role == "none":
        changed = connection.execute(SQL.remove_member, (*named, old, None, OPERATOR)).fetchone()
    elif old != role:
        changed = connection.execute(SQL.change_role, (*named, role, old, None, OPERATOR)).fetchone()
    if changed is None:
        raise ItemIndexError("this is the last owner; make another member an owner first")


def set_plan(connection: Connection, name: str, changes: dict[str, object]) -> None:
    """Change columns of a plan; all others stay as they are. Raises ItemIndexError where there is no such plan."""
    parts = [sql.SQL("{} = {}").format(sql.Identifier(column), sql.Literal(value)) for column, value in changes.items()]
    query = sql.SQL("UPDATE plans SET {} WHERE name = {} RETURNING 1").format(
        sql.SQL(", ").join(parts), sql.Literal(name)
    )
    if connection.execute(query).fetchone() is None:
        raise ItemIndexError("there is no such plan; see `itemindex plans list`")
