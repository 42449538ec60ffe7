"""`itemindex orgs`: organizations, their plans and their state."""

import sys
from pathlib import Path
from typing import Any

import click
import psycopg

from deploy.ctl.console import OPERATOR, data_dir_option, json_option, report, reveal, settings, show
from deploy.ctl.selectors import organization_of
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.organizations.roles import SQL

ACCOUNTS = beside(__file__, "accounts.sql")


@click.group()
def orgs() -> None:
    """Organizations: create, list, approve and change plans, suspend, resume, audit."""


@orgs.command(epilog="Example: itemindex orgs create 'Acme Ltd' --plan brand")
@click.argument("name")
@click.option("--plan", default="brand", show_default=True, help="Name of a plan; see `itemindex plans list`.")
@data_dir_option
@json_option
def create(name: str, plan: str, data_dir: Path, as_json: bool) -> None:
    """Create an organization and print its id. People join it with `itemindex members add`."""
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise ItemIndexError("the name must have 1 to 200 printable characters")
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        row = connection.execute(SQL.create_organization_as_operator, (name, plan, OPERATOR)).fetchone()
    if row is None:
        raise ItemIndexError("there is no plan of this name for organizations; see `itemindex plans list`")
    reveal(row[0], as_json=as_json, id=row[0], name=name, plan=plan)


@orgs.command("list", epilog="Example: itemindex orgs list --json")
@data_dir_option
@json_option
def list_(data_dir: Path, as_json: bool) -> None:
    """List the organizations."""
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        rows = connection.execute(ACCOUNTS.organizations).fetchall()
    names = ("id", "name", "plan", "state", "created_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="organizations")


@orgs.command(epilog="Example: itemindex orgs plan 01a1… institutional")
@click.argument("organization")
@click.argument("plan")
@data_dir_option
@json_option
def plan(organization: str, plan: str, data_dir: Path, as_json: bool) -> None:
    """Change an organization's plan; every edge knows within a second."""
    _change(data_dir, as_json, SQL.change_plan, (organization, plan, OPERATOR))


@orgs.command(epilog="Example: itemindex orgs requests --json")
@data_dir_option
@json_option
def requests(data_dir: Path, as_json: bool) -> None:
    """List the plans that organizations ask for, the oldest request first."""
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        rows = connection.execute(SQL.plan_requests).fetchall()
    names = ("id", "name", "plan", "requested_plan", "requested_by", "email", "requested_at", "notified_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="requested plans")


@orgs.command(epilog="Example: itemindex orgs approve 01a1… --plan brand")
@click.argument("organization")
@click.option("--plan", help="Plan to give instead of the requested one.")
@data_dir_option
@json_option
def approve(organization: str, plan: str | None, data_dir: Path, as_json: bool) -> None:
    """Give an organization the plan that it asks for; every edge knows within a second."""
    _change(data_dir, as_json, SQL.decide_plan, (organization, "approved", plan, OPERATOR))


@orgs.command(epilog="Example: itemindex orgs decline 01a1…")
@click.argument("organization")
@data_dir_option
@json_option
def decline(organization: str, data_dir: Path, as_json: bool) -> None:
    """Decline the plan that an organization asks for; it keeps the one it has and may ask again."""
    _change(data_dir, as_json, SQL.decide_plan, (organization, "declined", None, OPERATOR))


@orgs.command(epilog="Example: itemindex orgs suspend 01a1…")
@click.argument("organization")
@data_dir_option
@json_option
def suspend(organization: str, data_dir: Path, as_json: bool) -> None:
    """Refuse an organization's key from now on; its people can still sign in and read why."""
    _change(data_dir, as_json, SQL.change_state, (organization, "suspended", OPERATOR))


@orgs.command(epilog="Example: itemindex orgs resume 01a1…")
@click.argument("organization")
@data_dir_option
@json_option
def resume(organization: str, data_dir: Path, as_json: bool) -> None:
    """Resume a suspended organization."""
    _change(data_dir, as_json, SQL.change_state, (organization, "active", OPERATOR))


@orgs.command(epilog="Example: itemindex orgs audit 01a1… --json; itemindex orgs audit --verify")
@click.argument("organization", required=False)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--verify", is_flag=True, help="Check the chain of rows; of all organizations if none is named.")
@data_dir_option
@json_option
def audit(organization: str | None, limit: int, verify: bool, data_dir: Path, as_json: bool) -> None:
    """Show an organization's audit log, newest first; or check that no row was changed or removed.

    With --verify prints each organization's last row and its hash: keep them elsewhere, and a later --verify that shows
    another hash under the same number shows that the whole chain was written anew. Exit code 1 where it is broken.
    """
    if verify:
        _verify(data_dir, organization, as_json)
        return
    if organization is None:
        raise ItemIndexError("name the organization; see `itemindex orgs list`")
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        rows = connection.execute(
            SQL.audit, (organization_of(connection, organization), None, limit, None, None, None)
        ).fetchall()
    listed = ({"at": row[1], "actor": row[2], "act": row[3], "subject": row[4]} for row in rows)
    show(listed, as_json=as_json, title="audit")


def _verify(data_dir: Path, organization: str | None, as_json: bool) -> None:
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        organization_id = organization_of(connection, organization) if organization else None
        faults = connection.execute(SQL.audit_faults, (organization_id,)).fetchall()
        heads = connection.execute(SQL.audit_heads, (organization_id,)).fetchall()
    if faults:
        names = ("organization", "row", "fault")
        show((dict(zip(names, row, strict=True)) for row in faults), as_json=as_json, title="faults")
        sys.exit(1)
    names = ("organization", "rows", "hash")
    show((dict(zip(names, row, strict=True)) for row in heads), as_json=as_json, title="unbroken")


def _change(data_dir: Path, as_json: bool, query: str, values: tuple[Any, ...]) -> None:
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        organization_id = organization_of(connection, values[0])
        try:
            row = connection.execute(query, (organization_id, *values[1:])).fetchone()
        except psycopg.errors.ForeignKeyViolation:
            raise ItemIndexError("there is no such plan; see `itemindex plans list`") from None
    if row is None:
        raise ItemIndexError("there is nothing to change; see `itemindex orgs list`")
    report("changed", as_json=as_json, organization=organization_id, changed=True)
