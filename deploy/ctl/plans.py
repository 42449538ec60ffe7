"""`itemindex plans`: the plans' table, which is edited here and nowhere in code."""

from pathlib import Path

import click
from psycopg import sql

from deploy.ctl.console import data_dir_option, json_option, report, settings, show
from shared.db.connect import connect
from shared.errors import ItemIndexError

_COLUMNS = (
    "name",
    "title",
    "rank",
    "counted_by",
    "daily_units",
    "burst_units",
    "jobs_running",
    "jobs_queued",
    "batch_iids_max",
    "self_service",
)
_LIMIT_MAX = 2**31 - 1  # of an integer column
_NUMBERS = ("daily_units", "burst_units", "jobs_running", "jobs_queued", "batch_iids_max")


@click.group()
def plans() -> None:
    """Plans: list and edit. Every edge knows of a change within a second."""


@plans.command("list", epilog="Example: itemindex plans list --json")
@data_dir_option
@json_option
def list_(data_dir: Path, as_json: bool) -> None:
    """List the plans with their limits."""
    columns = sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))
    with connect(settings(data_dir).database_url, application="plans") as connection:
        rows = connection.execute(sql.SQL("SELECT {} FROM plans ORDER BY rank").format(columns)).fetchall()
    show((dict(zip(_COLUMNS, row, strict=True)) for row in rows), as_json=as_json, title="plans")


@plans.command("set", epilog="Example: itemindex plans set brand --daily-units 60000 --self-service")
@click.argument("name")
@click.option("--title")
@click.option("--daily-units", type=click.IntRange(1, _LIMIT_MAX))
@click.option("--burst-units", type=click.IntRange(1, _LIMIT_MAX))
@click.option("--jobs-running", type=click.IntRange(0, _LIMIT_MAX))
@click.option("--jobs-queued", type=click.IntRange(0, _LIMIT_MAX))
@click.option("--batch-iids-max", type=click.IntRange(0, 1_000))
@click.option(
    "--self-service/--no-self-service", default=None, help="Whether people may choose the plan without approval."
)
@data_dir_option
@json_option
def set_(name: str, data_dir: Path, as_json: bool, **given: object) -> None:
    """Change some limits of a plan; the others stay."""
    changes = {column: value for column, value in given.items() if value is not None}
    if not changes:
        raise ItemIndexError(
            f"name what to change: --title, --self-service, --{', --'.join(_NUMBERS)}".replace("_", "-")
        )
    parts = [sql.SQL("{} = {}").format(sql.Identifier(column), sql.Literal(value)) for column, value in changes.items()]
    query = sql.SQL("UPDATE plans SET {} WHERE name = {} RETURNING 1").format(
        sql.SQL(", ").join(parts), sql.Literal(name)
    )
    with connect(settings(data_dir).database_url, application="plans") as connection:
        if connection.execute(query).fetchone() is None:
            raise ItemIndexError("there is no such plan; see `itemindex plans list`")
    report("changed", as_json=as_json, plan=name, **changes)
