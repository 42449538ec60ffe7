"""`itemindex derive`: what the reports read, made anew from the observations."""

import time
from pathlib import Path

import click
from rich.progress import Progress

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.db.connect import connect
from workers.provenance import events
from workers.rollups.layout import derive as derive_cells


@click.group()
def derive() -> None:
    """Rebuild what the reports read. Each load keeps it up to date by itself."""


@derive.command(epilog="Example: itemindex derive rebuild")
@data_dir_option
@json_option
def rebuild(data_dir: Path, as_json: bool) -> None:
    """Make every cell anew, in one transaction: readers see the old ones until it commits, and loads wait."""
    started = time.perf_counter()
    with (
        connect(settings(data_dir).database_url, application="derive") as connection,
        Progress(console=console, disable=as_json, transient=True) as progress,
    ):
        task = progress.add_task("Deriving, month by month", total=None)
        events.lock(connection)
        derive_cells(connection, lambda done, total: progress.update(task, completed=done, total=total))
        connection.commit()
        row = connection.execute("SELECT count(*), count(DISTINCT month) FROM month_cells").fetchone()
    assert row is not None
    seconds = round(time.perf_counter() - started, 1)
    show([{"cells": row[0], "months": row[1], "seconds": seconds}], as_json=as_json)
