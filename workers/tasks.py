"""The one Celery task: claim, make, finish. What a kind of job makes is one function in a table."""

import time
from collections.abc import Callable
from typing import Any

from shared import metrics
from shared.config import Settings
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.jobs.contract import EXECUTE, SEARCH_INDEX
from shared.log import Log
from workers import search_index
from workers.app import app
from workers.lease import Lease, LeaseLost, claim, fail, succeed

Maker = Callable[[Settings, dict[str, Any], Lease], dict[str, Any]]
MAKERS: dict[str, Maker] = {SEARCH_INDEX.name: search_index.make}
log = Log("worker")


@app.task(name=EXECUTE)  # type: ignore[untyped-decorator]
def execute(job_id: str) -> None:
    """Do one job, if it is there to be done. A second doorbell for the same job finds nothing to claim."""
    run(Settings.from_environment(), job_id)


def run(settings: Settings, job_id: str, makers: dict[str, Maker] | None = None) -> str | None:
    """Claim and do a job; return the state it reached, or None where it was not ours (any more)."""
    with connect(settings.worker_database_url, application="worker", autocommit=True) as connection:
        job = claim(connection, job_id, settings.lease_ttl_seconds)
        if job is None:
            return None
        attempt, kind = job["attempt"], job["kind"]
        log.info("job-started", job=job_id, kind=kind, attempt=attempt)
        started = time.perf_counter()
        try:
            with Lease(settings.worker_database_url, job_id, attempt, settings.lease_ttl_seconds) as lease:
                result = (makers or MAKERS)[kind](settings, job, lease)
                lease.check()
            state = "succeeded" if succeed(connection, job_id, attempt, result) else None
        except LeaseLost:
            state = None
        except Exception as error:  # noqa: BLE001 - whatever it was, the row must tell, or the job would hang until its lease ends
            state = fail(connection, job_id, attempt, _problem(error))
        _tell(job_id, kind, attempt, state, time.perf_counter() - started)
        return state


def _problem(error: Exception) -> dict[str, Any]:
    # Only our own errors may speak: another library's text may quote a row or an address.
    detail = str(error) if isinstance(error, ItemIndexError) else type(error).__name__
    return {"slug": "job-failed", "detail": detail}


def _tell(job_id: str, kind: str, attempt: int, state: str | None, seconds: float) -> None:
    if state is None:
        log.warning("job-lost", job=job_id, kind=kind, attempt=attempt)
        return
    metrics.jobs_finished.labels(kind, state).inc()
    metrics.job_seconds.labels(kind).observe(seconds)
    log.info("job-finished", job=job_id, kind=kind, attempt=attempt, state=state, seconds=round(seconds, 3))
