"""`itemindex jobs`: what the workers do and did."""

import time
from math import inf

import click
from psycopg.rows import DictRow
from rich.progress import Progress

from deploy.ctl.console import console, database, for_programs, limit_option, report, rows_of, store_options, table
from deploy.terminal import safe
from shared.jobs.contract import ENDED, SQL, STATES
from workers.operators.jobs import cancel_job, retry_job

_LOOK_SECONDS = 0.1


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
@store_options
def cancel(job_id: str) -> None:
    """Cancel a job that has not ended."""
    with database("jobs") as connection:
        cancel_job(connection, job_id)
    report("done", job=str(job_id))


@jobs.command(epilog="Example: itemindex jobs retry 01a1…")
@click.argument("job_id", type=click.UUID)
@store_options
def retry(job_id: str) -> None:
    """Queue a failed or cancelled job again."""
    with database("jobs") as connection:
        retry_job(connection, job_id)
    report("done", job=str(job_id))


def follow(job_id: str, title: str, *, seconds: float = inf) -> DictRow:
    """Show a job's progress until it ends, or the time is over; return the job."""
    ends = time.monotonic() + seconds
    with database("jobs", autocommit=True) as connection, Progress(console=console, disable=for_programs()) as progress:
        task = progress.add_task(safe(title), total=1.0)
        while True:
            [job] = rows_of(connection, SQL.show, job_id)
            progress.update(task, completed=job["fraction"])
            if job["state"] in ENDED or time.monotonic() > ends:
                return job
            time.sleep(_LOOK_SECONDS)
