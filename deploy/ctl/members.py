"""`itemindex members`: the people of an organization."""

from pathlib import Path

import click

from deploy.ctl.console import OPERATOR, console, data_dir_option, json_option, settings, show
from deploy.ctl.orgs import uuid_of
from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.organizations.contract import SQL
from shared.organizations.roles import ROLES

ACCOUNTS = beside(__file__, "accounts.sql")

_NO_SUCH = "there is no organization of this id; see `itemindex orgs list`"


@click.group()
def members() -> None:
    """Members of an organization: list, people, add, change role, remove."""


@members.command("list", epilog="Example: itemindex members list 01a1…")
@click.argument("organization_id")
@data_dir_option
@json_option
def list_(organization_id: str, data_dir: Path, as_json: bool) -> None:
    """List the people of an organization."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        rows = connection.execute(SQL.members, (uuid_of(organization_id, _NO_SUCH),)).fetchall()
    names = ("id", "name", "email", "role", "joined_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="members")


@members.command(epilog="Example: itemindex members people --json")
@data_dir_option
@json_option
def people(data_dir: Path, as_json: bool) -> None:
    """List everybody who has ever signed in."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        rows = connection.execute(ACCOUNTS.people).fetchall()
    show(
        (dict(zip(("id", "name", "email", "issuer", "created_at"), row, strict=True)) for row in rows),
        as_json=as_json,
        title="people",
    )


@members.command(epilog="Example: itemindex members add 01a1… ada@example.org owner")
@click.argument("organization_id")
@click.argument("person")
@click.argument("role", type=click.Choice(ROLES))
@data_dir_option
def add(organization_id: str, person: str, role: str, data_dir: Path) -> None:
    """Add a PERSON (id or e-mail address) who has signed in before."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        values = (uuid_of(organization_id, _NO_SUCH), person_of(connection, person), role, OPERATOR)
        if connection.execute(SQL.add_member, values).fetchone() is None:
            raise ItemIndexError("this person is a member already; change the role with `itemindex members role`")
    console.say("added")


@members.command(epilog="Example: itemindex members role 01a1… ada@example.org admin")
@click.argument("organization_id")
@click.argument("person")
@click.argument("role", type=click.Choice(ROLES))
@data_dir_option
def role(organization_id: str, person: str, role: str, data_dir: Path) -> None:
    """Give a member another role; the last owner stays one."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        organization, person_id, old = _member(connection, organization_id, person)
        values = (organization, person_id, role, old, None, OPERATOR)
        if connection.execute(SQL.change_role, values).fetchone() is None and old != role:
            raise ItemIndexError("this is the last owner; make somebody else an owner first")
    console.say("changed")


@members.command(epilog="Example: itemindex members remove 01a1… ada@example.org")
@click.argument("organization_id")
@click.argument("person")
@data_dir_option
def remove(organization_id: str, person: str, data_dir: Path) -> None:
    """Remove a member; the last owner cannot go."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        organization, person_id, old = _member(connection, organization_id, person)
        if connection.execute(SQL.remove_member, (organization, person_id, old, None, OPERATOR)).fetchone() is None:
            raise ItemIndexError("this is the last owner; make somebody else an owner first")
    console.say("removed")


def _member(connection: Connection, organization_id: str, person: str) -> tuple[str, str, str]:
    organization, person_id = uuid_of(organization_id, _NO_SUCH), person_of(connection, person)
    for row in connection.execute(SQL.members, (organization,)).fetchall():
        if row[0] == person_id:
            return organization, person_id, row[3]
    raise ItemIndexError("this person is no member; see `itemindex members list`")


def person_of(connection: Connection, text: str) -> str:
    """Return the id of the one person of this id or address. Raises ItemIndexError where there is none, or several."""
    rows = connection.execute(ACCOUNTS.people_called, (text,)).fetchall()
    if len(rows) != 1:
        raise ItemIndexError("name one person who has signed in, by id or address; see `itemindex members people`")
    return str(rows[0][0])
