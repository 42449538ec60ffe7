"""`itemindex rebuild`: what is derived from the index. Each load keeps it up to date by itself."""

import time

import click
from rich.progress import Progress

from deploy.ctl.console import console, database, for_programs, settings, show, store_options
from deploy.local.derived import update_search_index
from shared.db.queries import load_queries
from shared.errors import ConfigurationError
from workers.analytics.rollups.layout import rebuild_rollups
from workers.provenance import events

SQL = load_queries(__file__, "data.sql")


@click.command(epilog="Example: itemindex rebuild rollups")
@click.argument("part", type=click.Choice(("rollups", "search")))
@store_options
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
