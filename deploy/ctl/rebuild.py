"""`itemindex rebuild`: what is derived from the index. Each load keeps it up to date by itself."""

import time
from pathlib import Path

import click
from rich.progress import Progress

from deploy.ctl.console import console, settings, show, stored
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.errors import ConfigurationError
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from workers.analytics.rollups.layout import rebuild_rollups
from workers.provenance import events
from workers.search.job import make_index

SQL = load_queries(__file__, "data.sql")


@click.command(epilog="Example: itemindex rebuild rollups")
@click.argument("part", type=click.Choice(("rollups", "search")))
@stored
def rebuild(part: str, data_dir: Path, as_json: bool) -> None:
    """Compute the reports' aggregates anew, or bring the search index to the newest data_version unless it is.

    Aggregates are computed in one transaction: readers see the old ones until it commits, and loads wait.
    """
    chosen = settings(data_dir)
    with Progress(console=console, disable=as_json, transient=True) as progress:
        made = _rollups(chosen, progress) if part == "rollups" else _search(chosen, progress)
    show([made], as_json=as_json)


def _rollups(chosen: Settings, progress: Progress) -> dict[str, object]:
    started = time.perf_counter()
    task = progress.add_task("Deriving, month by month", total=None)
    with connect(chosen.database_url, application="rollups") as connection:
        events.lock(connection)
        rebuild_rollups(connection, lambda done, total: progress.update(task, completed=done, total=total))
        connection.commit()
        row = connection.execute(SQL.rollup_counts).fetchone()
    assert row is not None
    return {"cells": row[0], "months": row[1], "seconds": round(time.perf_counter() - started, 1)}


def _search(chosen: Settings, progress: Progress) -> dict[str, object]:
    task = progress.add_task("Building the search index", total=None)
    made = make_index(
        chosen.database_url,
        chosen.search_dir,
        lambda stage, done, total: progress.update(task, completed=done, total=total),
        open_object_store(chosen) if chosen.search_in_store else None,
    )
    if not made["data_version"]:
        raise ConfigurationError("there is nothing to search yet; load something first: itemindex ingest --help")
    return {**made, "folder": str(chosen.search_dir)}
