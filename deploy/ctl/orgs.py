"""`itemindex orgs`: organizations and their plans."""

from pathlib import Path

import click
import psycopg

from deploy.ctl.ui import console, data_dir_option, json_option, settings, show
from shared.db.connect import connect
from shared.errors import ItemIndexError


@click.group()
def orgs() -> None:
    """Organizations: create, list, change plan."""


@orgs.command(epilog="Example: itemindex orgs create 'Acme Ltd' --plan brand")
@click.argument("name")
@click.option("--plan", default="brand", show_default=True, help="Name of a plan in the table `plans`.")
@data_dir_option
def create(name: str, plan: str, data_dir: Path) -> None:
    """Create an organization and print its id."""
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        try:
            query = "INSERT INTO organizations (name, plan) VALUES ($1, $2) RETURNING id::text"
            row = connection.execute(query, (name, plan)).fetchone()
        except (psycopg.errors.ForeignKeyViolation, psycopg.errors.CheckViolation):
            raise ItemIndexError("the name must have 1 to 200 characters, and the plan must be in `plans`") from None
    assert row is not None
    click.echo(row[0])


@orgs.command("list", epilog="Example: itemindex orgs list --json")
@data_dir_option
@json_option
def list_(data_dir: Path, as_json: bool) -> None:
    """List the organizations."""
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        rows = connection.execute(
            "SELECT id::text, name, plan, state, created_at::text FROM organizations ORDER BY id"
        ).fetchall()
    names = ("id", "name", "plan", "state", "created_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="organizations")


@orgs.command(epilog="Example: itemindex orgs plan 01a1… institutional")
@click.argument("organization_id")
@click.argument("plan")
@data_dir_option
def plan(organization_id: str, plan: str, data_dir: Path) -> None:
    """Change an organization's plan; every edge knows within a second."""
    with connect(settings(data_dir).database_url, application="orgs") as connection:
        try:
            query = "UPDATE organizations SET plan = $2 WHERE id::text = $1 RETURNING 1"
            found = connection.execute(query, (organization_id, plan)).fetchone()
        except psycopg.errors.ForeignKeyViolation:
            raise ItemIndexError("there is no such plan") from None
    if found is None:
        raise ItemIndexError("there is no organization of this id; see `itemindex orgs list`")
    console.print("changed")
