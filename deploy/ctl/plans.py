"""`itemindex plans`: the table of plans, which is edited here. Migrations write its defaults."""

import click

from deploy.ctl.console import database, report, store_options, table
from shared.errors import ItemIndexError
from shared.organizations.accounts import PLAN_LIMITS, SQL
from workers.operators.organizations import set_plan

_LIMITS = {name: click.IntRange(*bounds) for name, bounds in PLAN_LIMITS.items()}
_BYTES_MAX = 2**63 - 1


@click.group()
def plans() -> None:
    """Plans: list and edit. Changes take effect on every edge within a second."""


table(
    plans,
    "list",
    SQL.plans,
    title="plans",
    text="List the plans with their limits.",
    example="itemindex plans list --json",
)


@plans.command("set", epilog="Example: itemindex plans set brand --daily-units 60000 --self-service")
@click.argument("name")
@click.option("--title", help="Name of the plan on pages.")
@click.option("--daily-units", type=_LIMITS["daily_units"], help="Units a day.")
@click.option("--burst-units", type=_LIMITS["burst_units"], help="Units a second.")
@click.option("--jobs-running", type=_LIMITS["jobs_running"], help="Jobs that run at the same time.")
@click.option("--jobs-queued", type=_LIMITS["jobs_queued"], help="Jobs that wait at the same time.")
@click.option("--batch-iids-max", type=_LIMITS["batch_iids_max"], help="IIDs or identifiers in one batch.")
@click.option(
    "--stored-export-bytes-max",
    type=click.IntRange(0, _BYTES_MAX),
    help="Bytes of exports that are stored at the same time; plans without this limit have STORED_EXPORT_BYTES_MAX.",
)
@click.option("--price", help="What it costs, as pages show it: `49 EUR a month`.")
@click.option(
    "--self-service/--no-self-service", default=None, help="Whether people may choose the plan without approval."
)
@store_options
def set_(name: str, **given: object) -> None:
    """Change limits of a plan; all others stay as they are."""
    changes = {column: value for column, value in given.items() if value is not None}
    if not changes:
        options = [option.opts[0] for option in click.get_current_context().command.params if option.name in given]
        raise ItemIndexError(f"name what to change: {', '.join(options)}")
    with database("plans") as connection:
        set_plan(connection, name, changes)
    report("changed", plan=name, **changes)
