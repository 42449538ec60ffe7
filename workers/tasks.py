"""The one Celery task: claim, make, finish. What a kind of job makes is one function in a table."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import psycopg

from shared.config import Settings
from shared.db.connect import Connection, connect, unavailable
from shared.errors import InvalidParameter, ItemIndexError, JobRefused, StoreUnavailable
from shared.jobs.contract import EXECUTE, EXPORT, KINDS, RELEASE, SEARCH_INDEX
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from shared.telemetry.trace_context import step_from
from workers.app import app
from workers.exports import export, parts
from workers.leases import JobTimeout, Lease, LeaseLost, break_off, claim, fail, postpone, succeed
from workers.releases import cut
from workers.reports.publish import publish, spool
from workers.reports.registry import MAKERS as REPORTS
from workers.reports.registry import Make
from workers.search import job
from workers.telemetry import attributes, log_of, spans_of

Maker = Callable[[Settings, dict[str, Any], Lease], Any]
MAKERS: dict[str, Maker] = {SEARCH_INDEX.name: job.make, RELEASE.name: cut.make, EXPORT.name: export.make}


class _Refusal(NamedTuple):
    """Why an attempt failed, and whether another one can help."""

    problem: dict[str, Any]
    final: bool


@app.task(name=EXECUTE)  # type: ignore[untyped-decorator]
def execute(job_id: str) -> None:
    """Do one job, if it is there to be done. A second message for the same job finds nothing to claim.

    Where PostgreSQL is unavailable the message is dropped: the row stays queued, and the dispatcher sends another one.
    """
    settings = Settings.from_environment()
    try:
        run(settings, job_id)
    except psycopg.Error as error:
        if not unavailable(error):
            raise
        metrics.store_errors.labels("database").inc()
        log_of(settings).warning("store-down", store="database", job=job_id, error=type(error).__name__)


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
        job_log = log_of(settings).bind(**ids, trace_id=step.trace_id, span_id=step.span_id)
        job_log.info("job-started")
        state = _attempt(settings, connection, job, makers or MAKERS, REPORTS if reports is None else reports, job_log)
        seconds = time.perf_counter() - started
        _tell(job, state, seconds, job_log)
        spans_of(settings).note(
            step, f"job {job['kind']}", "consumer", seconds, attributes(job, state), failed=state != "succeeded"
        )
        return state


def _attempt(
    settings: Settings,
    connection: Connection,
    job: dict[str, Any],
    makers: Mapping[str, Maker],
    reports: Mapping[str, Make],
    job_log: Log,
) -> str | None:
    """Make the result and publish it; return the job's new state, None where another worker has it or may claim it."""
    lease = Lease(
        settings.worker_database_url,
        job["id"],
        job["attempt"],
        settings.lease_ttl_seconds,
        KINDS[job["kind"]].seconds_max,
        stop=lambda: break_off(connection),
    )
    try:
        return "succeeded" if _make(settings, connection, job, makers, reports, lease) else None
    except LeaseLost:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it was, the row must say so, or the job would wait for its lease to end
        if lease.lost.is_set():
            return None  # the error is how the cancelled statement ended
        _log_failure(job_log, error)
        return _give_up(connection, job, error, late=lease.late.is_set())


def _make(
    settings: Settings,
    connection: Connection,
    job: dict[str, Any],
    makers: Mapping[str, Maker],
    reports: Mapping[str, Make],
    lease: Lease,
) -> bool:
    """Make and publish under the lease; False, and nothing published, where the attempt is no longer the job's."""
    kind = KINDS[job["kind"]]
    with lease:
        if kind.name in reports:
            manifest = spool(settings, connection, job, lease, reports[kind.name])
        else:
            result = makers[kind.name](settings, job, lease)
    lease.check()
    if kind.name in reports:
        done, made = publish(connection, job, manifest), manifest.bytes
    elif kind is EXPORT:
        done, made = parts.publish(connection, job, result), result.bytes
    else:
        done, made = succeed(connection, job["id"], job["attempt"], result), 0
    metrics.result_bytes_made.labels(kind.name).inc(made if done else 0)
    return done


def _give_up(connection: Connection, job: dict[str, Any], error: Exception, *, late: bool) -> str | None:
    """Note in the row why the attempt failed; return the new state, None where the row cannot be written.

    An outage of a store or of PostgreSQL does not count as an attempt: the job is put off, and tried again.
    """
    refusal, store = _refusal(error, late=late), _store_at_fault(error)
    try:
        if store is not None and not refusal.final:
            metrics.store_errors.labels(store).inc()
            state = postpone(connection, job["id"], job["attempt"], refusal.problem)
            if state is not None:
                return state
        return fail(connection, job["id"], job["attempt"], refusal.problem, final=refusal.final)
    except psycopg.Error as failure:
        if not unavailable(failure):
            raise
        return None  # the row cannot be written now; the lease lapses, and the job is claimed again


def _store_at_fault(error: Exception) -> str | None:
    """Name the store whose outage the error is, None where it is no outage."""
    if unavailable(error):
        return "database"
    return "results" if isinstance(error, OSError | StoreUnavailable) else None


def _log_failure(job_log: Log, error: Exception) -> None:
    """Log where an attempt failed: a warning for a refusal or an outage, an error for what nothing expects."""
    failure = {"error": type(error).__name__, "trace": trace_of(error)}
    if isinstance(error, ItemIndexError | OSError) or unavailable(error):
        job_log.warning("job-attempt-failed", **failure)
    else:
        job_log.error("job-attempt-failed", **failure)


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
