"""The one Celery task: claim, make, finish. What a kind of job makes is one function in a table."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import psycopg

from shared.config import Settings
from shared.db.connect import Connection, connect
from shared.errors import InvalidParameter, ItemIndexError, JobRefused, StoreUnavailable
from shared.jobs.contract import EXECUTE, EXPORT, KINDS, RELEASE, SEARCH_INDEX
from shared.telemetry import metrics
from shared.telemetry.log import Log
from shared.telemetry.trace_context import step_from
from workers.app import app
from workers.exports import export, parts
from workers.leases import JobTimeout, Lease, LeaseLost, break_off, claim, fail, postpone, succeed
from workers.releases import cut
from workers.reports.publish import publish, spool
from workers.reports.registry import MAKERS as REPORTS
from workers.reports.registry import Make
from workers.search import job
from workers.telemetry import attributes, spans_of

Maker = Callable[[Settings, dict[str, Any], Lease], Any]
MAKERS: dict[str, Maker] = {SEARCH_INDEX.name: job.make, RELEASE.name: cut.make, EXPORT.name: export.make}
log = Log("worker")


class _Refusal(NamedTuple):
    """Why an attempt failed, and whether another one can help."""

    problem: dict[str, Any]
    final: bool


@app.task(name=EXECUTE)  # type: ignore[untyped-decorator]
def execute(job_id: str) -> None:
    """Do one job, if it is there to be done. A second doorbell for the same job finds nothing to claim."""
    run(Settings.from_environment(), job_id)


def run(
    settings: Settings,
    job_id: str,
    makers: Mapping[str, Maker] | None = None,
    reports: Mapping[str, Make] | None = None,
) -> str | None:
    """Claim and do a job; return the state it reached, or None where it was not ours (any more)."""
    with connect(settings.worker_database_url, application="worker", autocommit=True) as connection:
        job = claim(connection, job_id, settings.lease_ttl_seconds)
        if job is None:
            export.lend_hand(settings, connection, job_id)  # a running export asks for hands by its own doorbell
            return None
        step, started = step_from(job["traceparent"]), time.perf_counter()
        ids = {"job": job_id, "kind": job["kind"], "attempt": job["attempt"], "organization": job["organization"]}
        job_log = log.bind(**ids, trace_id=step.trace_id, span_id=step.span_id)
        job_log.info("job-started")
        state = _attempt(settings, connection, job, makers or MAKERS, REPORTS if reports is None else reports)
        seconds = time.perf_counter() - started
        _tell(job, state, seconds, job_log)
        spans_of(settings).note(
            step, f"job {job['kind']}", "consumer", seconds, attributes(job, state), failed=state != "succeeded"
        )
        return state


def _attempt(
    settings: Settings, connection: Connection, job: dict[str, Any], makers: Mapping[str, Maker],
    reports: Mapping[str, Make],
) -> str | None:  # fmt: skip
    job_id, attempt, kind = job["id"], job["attempt"], KINDS[job["kind"]]
    lease = Lease(
        settings.worker_database_url, job_id, attempt, settings.lease_ttl_seconds, kind.seconds_max,
        stop=lambda: break_off(connection),
    )  # fmt: skip
    try:
        with lease:
            if kind.name in reports:
                manifest = spool(settings, connection, job, lease, reports[kind.name])
            else:
                result = makers[kind.name](settings, job, lease)
        lease.check()
        if kind.name in reports:
            done = publish(connection, job, manifest)
            made = manifest.bytes
        elif kind is EXPORT:
            done = parts.publish(connection, job, result)
            made = result.bytes
        else:
            done, made = succeed(connection, job_id, attempt, result), 0
        metrics.result_bytes_made.labels(kind.name).inc(made if done else 0)
        return "succeeded" if done else None
    except LeaseLost:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it was, the row must tell, or the job would hang until its lease ends
        if lease.lost.is_set():
            return None  # the error is what breaking off looked like from inside
        refusal = _refusal(error, late=lease.late.is_set())
        try:
            # A store that is away or full, and not a statement that was broken off: PostgreSQL's errors are no OSError.
            if isinstance(error, OSError | StoreUnavailable) and not refusal.final:
                state = postpone(connection, job_id, attempt, refusal.problem)
                if state is not None:
                    metrics.store_errors.labels("results").inc()
                    return state
            return fail(connection, job_id, attempt, refusal.problem, final=refusal.final)
        except psycopg.OperationalError:
            return None  # PostgreSQL is away and cannot be told; the lease lapses, and the job is taken up again


def _refusal(error: Exception, *, late: bool) -> _Refusal:
    if late or isinstance(error, JobTimeout):
        return _Refusal({"slug": "job-timeout", "detail": "The job took longer than its kind may."}, final=True)
    if isinstance(error, InvalidParameter):  # what only the data can tell, such as a range without any
        return _Refusal({"slug": "invalid-parameter", "detail": str(error)}, final=True)
    if isinstance(error, JobRefused):
        return _Refusal({"slug": error.slug, "detail": str(error)}, final=True)
    # Only our own errors may speak: another library's text may quote a row or an address.
    detail = str(error) if isinstance(error, ItemIndexError) else type(error).__name__
    return _Refusal({"slug": "job-failed", "detail": detail}, final=False)


def _tell(job: dict[str, Any], state: str | None, seconds: float, log: Log) -> None:
    kind, attempt = job["kind"], job["attempt"]
    if state is None:
        log.warning("job-lost")
        metrics.jobs_lost.labels(kind).inc()
        return
    metrics.job_seconds.labels(kind).observe(seconds)
    if state != "queued":
        metrics.jobs_finished.labels(kind, state).inc()
        metrics.job_attempts.labels(kind).observe(attempt)
    log.info("job-finished", state=state, seconds=round(seconds, 3))
