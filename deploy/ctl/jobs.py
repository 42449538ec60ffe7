"""`itemindex jobs`: what the workers do and did."""

from pathlib import Path

import click

from deploy.ctl.console import limit_option, report, rows_of, settings, show, stored, table
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.jobs.contract import SQL, STATES


@click.group()
def jobs() -> None:
    """Jobs: list, show, cancel, retry."""


table(
    jobs,
    "list",
    SQL.list,
    click.option("--state", type=click.Choice(STATES), help="Only jobs in this state."),
    limit_option(20),
    title="jobs",
    text="List jobs, newest first. `--json` prints more of each.",
    example="itemindex jobs list --state failed",
    values=lambda connection, state, limit: [state, limit],
    brief=("id", "kind", "state", "attempt", "stage", "orders", "created_at"),
)


@jobs.command("show", epilog="Example: itemindex jobs show 01a1… --json")
@click.argument("job_id", type=click.UUID)
@stored
def show_(job_id: str, data_dir: Path, as_json: bool) -> None:
    """Show one job."""
    with connect(settings(data_dir).database_url, application="jobs") as connection:
        rows = rows_of(connection, SQL.show, job_id)
    if not rows:
        raise ItemIndexError("there is no such job; see `itemindex jobs list`")
    show(rows if as_json else ({"what": k, "value": v} for k, v in rows[0].items()), as_json=as_json)


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
