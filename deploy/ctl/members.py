"""`itemindex members`: the people of an organization."""

from pathlib import Path

import click

from deploy.ctl.console import OPERATOR, data_dir_option, json_option, report, settings, show
from deploy.ctl.selectors import organization_of, person_of
from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.organizations.roles import ROLES, SQL

ACCOUNTS = beside(__file__, "accounts.sql")


@click.group()
def members() -> None:
    """Members of an organization: list, people, add, change role, remove."""


@members.command("list", epilog="Example: itemindex members list 01a1…")
@click.argument("organization")
@data_dir_option
@json_option
def list_(organization: str, data_dir: Path, as_json: bool) -> None:
    """List the people of an organization."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        rows = connection.execute(SQL.members, (organization_of(connection, organization),)).fetchall()
    names = ("id", "name", "email", "role", "joined_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="members")


@members.command(epilog="Example: itemindex members add 01a1… ada@example.org owner")
@click.argument("organization")
@click.argument("person")
@click.argument("role", type=click.Choice(ROLES))
@data_dir_option
@json_option
def add(organization: str, person: str, role: str, data_dir: Path, as_json: bool) -> None:
    """Add a PERSON (id or e-mail address) who has signed in before."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        values = (organization_of(connection, organization), person_of(connection, person), role, OPERATOR)
        if connection.execute(SQL.add_member, values).fetchone() is None:
            raise ItemIndexError("this person is a member already; change the role with `itemindex members role`")
    report("added", as_json=as_json, organization=organization, person=person, role=role)


@members.command(epilog="Example: itemindex members role 01a1… ada@example.org admin")
@click.argument("organization")
@click.argument("person")
@click.argument("role", type=click.Choice(ROLES))
@data_dir_option
@json_option
def role(organization: str, person: str, role: str, data_dir: Path, as_json: bool) -> None:
    """Change a member's role; the last owner remains an owner."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        organization_id, person_id, old = _member(connection, organization, person)
        values = (organization_id, person_id, role, old, None, OPERATOR)
        if connection.execute(SQL.change_role, values).fetchone() is None and old != role:
            raise ItemIndexError("this is the last owner; make another member an owner first")
    report("changed", as_json=as_json, organization=organization, person=person, role=role)


@members.command(epilog="Example: itemindex members remove 01a1… ada@example.org")
@click.argument("organization")
@click.argument("person")
@data_dir_option
@json_option
def remove(organization: str, person: str, data_dir: Path, as_json: bool) -> None:
    """Remove a member; the last owner cannot be removed."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        organization_id, person_id, old = _member(connection, organization, person)
        if connection.execute(SQL.remove_member, (organization_id, person_id, old, None, OPERATOR)).fetchone() is None:
            raise ItemIndexError("this is the last owner; make another member an owner first")
    report("removed", as_json=as_json, organization=organization, person=person)


def _member(connection: Connection, organization: str, person: str) -> tuple[str, str, str]:
    organization_id, person_id = organization_of(connection, organization), person_of(connection, person)
    for row in connection.execute(SQL.members, (organization_id,)).fetchall():
        if row[0] == person_id:
            return organization_id, person_id, row[3]
    raise ItemIndexError("this person is no member; see `itemindex members list`")
