"""`itemindex jobs`: what the workers do and did."""

from pathlib import Path
from typing import Any

import click

from deploy.ctl.console import limit_option, report, settings, show, stored
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.jobs.contract import SQL, STATES

_LISTED = (
    "id",
    "kind",
    "queue",
    "state",
    "attempt",
    "fraction",
    "stage",
    "data_version",
    "orders",
    "created_at",
    "finished_at",
)
_SHOWN = (
    "id",
    "kind",
    "queue",
    "state",
    "attempt",
    "attempts_max",
    "fraction",
    "stage",
    "rows_done",
    "rows_total",
    "data_version",
    "result",
    "error",
    "created_at",
    "started_at",
    "finished_at",
)


@click.group()
def jobs() -> None:
    """Jobs: list, show, cancel, retry."""


@jobs.command("list", epilog="Example: itemindex jobs list --state failed")
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state.")
@limit_option(20)
@stored
def list_(state: str | None, limit: int, data_dir: Path, as_json: bool) -> None:
    """List jobs, newest first."""
    with connect(settings(data_dir).database_url, application="jobs") as connection:
        rows = connection.execute(SQL.list, (state, limit)).fetchall()
    listed = [dict(zip(_LISTED, row, strict=True)) for row in rows]
    show(listed if as_json else (_brief(members) for members in listed), as_json=as_json, title="jobs")


def _brief(members: dict[str, Any]) -> dict[str, Any]:
    """Return what fits a line; `--json` prints everything."""
    brief = {name: members[name] for name in ("id", "kind", "state", "attempt", "stage", "orders")}
    return {**brief, "created": members["created_at"]}


@jobs.command("show", epilog="Example: itemindex jobs show 01a1… --json")
@click.argument("job_id", type=click.UUID)
@stored
def show_(job_id: str, data_dir: Path, as_json: bool) -> None:
    """Show one job."""
    with connect(settings(data_dir).database_url, application="jobs") as connection:
        row = connection.execute(SQL.show, (job_id,)).fetchone()
    if row is None:
        raise ItemIndexError("there is no such job; see `itemindex jobs list`")
    members = dict(zip(_SHOWN, row, strict=True))
    show([members] if as_json else ({"what": k, "value": v} for k, v in members.items()), as_json=as_json)


@jobs.command(epilog="Example: itemindex jobs cancel 01a1…")
@click.argument("job_id", type=click.UUID)
@stored
def cancel(job_id: str, data_dir: Path, as_json: bool) -> None:
    """Cancel a job that has not ended."""
    _change(SQL.cancel, job_id, data_dir, as_json, "there is no job of this id that is queued or running")


@jobs.command(epilog="Example: itemindex jobs retry 01a1…")
@click.argument("job_id", type=click.UUID)
@stored
def retry(job_id: str, data_dir: Path, as_json: bool) -> None:
    """Queue a failed or cancelled job again."""
    _change(
        SQL.retry,
        job_id,
        data_dir,
        as_json,
        "there is no failed or cancelled job of this id, or an equal one is under way",
    )


def _change(query: str, job_id: str, data_dir: Path, as_json: bool, otherwise: str) -> None:
    with connect(settings(data_dir).database_url, application="jobs") as connection:
        if connection.execute(query, (job_id,)).fetchone() is None:
            raise ItemIndexError(otherwise)
    report("done", as_json=as_json, job=str(job_id))
