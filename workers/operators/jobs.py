"""What operators do with single jobs. Each function acts in the caller's transaction."""

from shared.db.connect import Connection
from shared.errors import ItemIndexError
from shared.jobs.contract import SQL


def cancel_job(connection: Connection, job: str) -> None:
    """Cancel a job that has not ended. Raises ItemIndexError where there is none."""
    _change(connection, SQL.cancel, job, "there is no job of this id that is queued or running")


def retry_job(connection: Connection, job: str) -> None:
    """Queue a failed or cancelled job again. Raises ItemIndexError where there is none, or an equal one runs."""
    _change(connection, SQL.retry, job, "there is no failed or cancelled job of this id, or an equal one is under way")


def _change(connection: Connection, query: str, job: str, otherwise: str) -> None:
    if connection.execute(query, (job,)).fetchone() is None:
        raise ItemIndexError(otherwise)
