"""`itemindex migrate` and `rebuild`: the schema, forward only, and what is derived from the index."""

import time

import click
from rich.progress import Progress

from deploy.ctl.console import console, database, for_programs, print_json, settings, show, stored
from deploy.local.derived import bring_up_to_date, update_search_index
from shared.db.migrate import Migration, available, migrate, pending
from shared.db.queries import load_queries
from shared.errors import ConfigurationError
from shared.objects.shared_directories import adopt
from workers.analytics.rollups.layout import rebuild_rollups
from workers.provenance import events

# `itemindex rebuild`: what is derived from the index. Each load keeps it up to date by itself.


SQL = load_queries(__file__, "data.sql")


@click.command(epilog="Example: itemindex rebuild rollups")
@click.argument("part", type=click.Choice(("rollups", "search")))
@stored
def rebuild(part: str) -> None:
    """Recompute the reports' aggregates, or update the search index to the newest data_version.

    Aggregates are computed in one transaction: readers see the old ones until it commits, and loads wait.
    """
    with Progress(console=console, disable=for_programs(), transient=True) as progress:
        made = _rollups(progress) if part == "rollups" else _search(progress)
    show([made])


def _rollups(progress: Progress) -> dict[str, object]:
    started = time.perf_counter()
    task = progress.add_task("Deriving, month by month", total=None)
    with database("rollups") as connection:
        events.lock(connection)
        rebuild_rollups(connection, lambda done, total: progress.update(task, completed=done, total=total))
        connection.commit()
        [(cells, months)] = connection.execute(SQL.rollup_counts).fetchall()
    return {"cells": cells, "months": months, "seconds": round(time.perf_counter() - started, 1)}


def _search(progress: Progress) -> dict[str, object]:
    chosen = settings()
    task = progress.add_task("Building the search index", total=None)
    made = update_search_index(chosen, lambda stage, done, total: progress.update(task, completed=done, total=total))
    if not made["data_version"]:
        raise ConfigurationError("there is nothing to search yet; load something first: itemindex ingest --help")
    return {**made, "folder": str(chosen.search_dir)}


# `itemindex migrate`: the schema, forward only.


@click.command("migrate", epilog="Example: DATABASE_URL=postgresql://… itemindex migrate")
@click.option(
    "--contract", is_flag=True, help="Apply contracting migrations too: only while no process of the old code runs."
)
@click.option("--dry-run", is_flag=True, help="List every migration and whether the database has it; apply none.")
@click.option(
    "--directories",
    is_flag=True,
    help="Only record where this host stores results and the search index, after they were moved on every host. A part "
    "refuses to start on a host whose storage differs from the record.",
)
@stored
def migrate_schema(contract: bool, dry_run: bool, directories: bool) -> None:
    """Apply the expanding migrations that the database still lacks: old code keeps working after them.

    Safe to run at any time, under load, and twice at once. If a table is busy, it retries instead of blocking others.
    """
    chosen = settings()

    def tell_applied(step: Migration) -> None:
        if not for_programs():
            console.say("  applied {step.name} ({step.phase})", step=step)

    def tell_made(done: str) -> None:
        if not for_programs():
            console.say("  {done}", done=done)

    if directories:
        adopted = [{"name": place.name, "location": place.location} for place in adopt(chosen, chosen.database_url)]
        show(adopted, title="directories")
        return
    with database("migrate") as connection:
        if dry_run:
            missing = {step.number for step in pending(connection)}
            rows = (
                {"number": s.number, "name": s.name, "phase": s.phase, "applied": s.number not in missing}
                for s in available()
            )
            show(rows, title="migrations")
            return
        done = migrate(connection, tell_applied, contract=contract)
        left = pending(connection)
    bring_up_to_date(chosen, tell_made)
    if for_programs():
        print_json({"applied": [step.name for step in done], "waiting": [step.name for step in left]})
        return
    console.say("[green]the schema is current[/] ({count} applied)", count=len(done))
    for step in left:
        console.say(
            "  [yellow]waits[/] {name}: contracts; `itemindex migrate --contract` when all is new", name=step.name
        )
