"""`itemindex rollups`: the aggregates that reports read."""

import time
from pathlib import Path

import click
from rich.progress import Progress

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.db.connect import connect
from shared.db.queries import beside
from workers.analytics.rollups.layout import rebuild_rollups
from workers.provenance import events

SQL = beside(__file__, "data.sql")


@click.group()
def rollups() -> None:
    """Rebuild the aggregates that reports read. Each load keeps them up to date by itself."""


@rollups.command(epilog="Example: itemindex rollups rebuild")
@data_dir_option
@json_option
def rebuild(data_dir: Path, as_json: bool) -> None:
    """Compute every aggregate anew, in one transaction: readers see the old ones until it commits, and loads wait."""
    started = time.perf_counter()
    with (
        connect(settings(data_dir).database_url, application="rollups") as connection,
        Progress(console=console, disable=as_json, transient=True) as progress,
    ):
        task = progress.add_task("Deriving, month by month", total=None)
        events.lock(connection)
        rebuild_rollups(connection, lambda done, total: progress.update(task, completed=done, total=total))
        connection.commit()
        row = connection.execute(SQL.rollup_counts).fetchone()
    assert row is not None
    seconds = round(time.perf_counter() - started, 1)
    show([{"cells": row[0], "months": row[1], "seconds": seconds}], as_json=as_json)
