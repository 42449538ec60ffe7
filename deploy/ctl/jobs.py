"""`itemindex jobs`: what the workers do and did."""

from pathlib import Path

import click

from deploy.ctl.console import limit_option, report, settings, stored, table
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.jobs.contract import SQL, STATES


@click.group()
def jobs() -> None:
    """Jobs: list, cancel, retry."""


table(
    jobs,
    "list",
    SQL.list,
    click.option("--state", type=click.Choice(STATES), help="Only jobs in this state."),
    limit_option(20),
    title="jobs",
    text="List jobs, newest first; or show all of one JOB. `--json` prints more of each.",
    example="itemindex jobs list --state failed; itemindex jobs list 01a1…",
    values=lambda connection, state, limit: [state, limit],
    brief=("id", "kind", "state", "attempt", "stage", "orders", "created_at"),
    one=("JOB", click.UUID, SQL.show),
)


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
