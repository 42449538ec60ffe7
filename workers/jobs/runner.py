"""One attempt at a job: claim, run, publish. The handler of a kind of job does the work itself."""

import time
from collections.abc import Callable
from typing import NamedTuple

import psycopg

from shared.db.connect import Connection, unavailable
from shared.errors import InvalidParameter, ItemIndexError, JobRefused
from shared.jobs.contract import JOB_KINDS
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from shared.telemetry.trace_context import step_from
from workers.jobs.job import ClaimedJob, span_attributes
from workers.jobs.job_handler import Handlers, JobContext
from workers.jobs.kept_connection import KeptConnection
from workers.jobs.leases import JobTimeout, Lease, LeaseLost, cancel_statement, claim, fail, retry_later
from workers.jobs.outages import store_at_fault
from workers.jobs.services import WorkerServices


class _Refusal(NamedTuple):
    """Why an attempt failed, and whether another attempt can help."""

    problem: dict[str, object]
    final: bool


class JobRunner:
    """Runs jobs in one process, one after the other; its connection stays open for `idle_connection_seconds`.

    With `raises_outages`, the outage of a store is also raised after it was recorded: the caller learns of it as well.
    """

    def __init__(
        self,
        services: WorkerServices,
        handlers: Handlers,
        idle_connection_seconds: float = 0.0,
        *,
        raises_outages: bool = False,
    ) -> None:
        self._services = services
        self._handlers = handlers
        self._raises_outages = raises_outages
        self._connection = KeptConnection(lambda: services.connect("worker", autocommit=True), idle_connection_seconds)

    def execute(self, job_id: str) -> None:
        """Run a job if it is queued. A repeated message finds nothing to claim.

        If PostgreSQL is unavailable the message is dropped: the row stays queued, and the dispatcher sends another one.
        """
        self.unless_unavailable(self.run, job_id)

    def run(self, job_id: str) -> str | None:
        """Claim and run a job; return the state it reached, None if it was not queued or its lease was lost."""
        services = self._services
        with self._connection.lend() as connection:
            job = claim(connection, job_id, services.settings.lease_ttl_seconds)
            if job is None:
                return None
            span, started = step_from(job.traceparent), time.perf_counter()
            ids = {"job": job.id, "kind": job.kind, "attempt": job.attempt, "organization": job.organization}
            log = services.log.bind(**ids, trace_id=span.trace_id, span_id=span.span_id)
            log.info("job-started")
            state = self._attempt(connection, job, log)
            if state == "succeeded":  # after any other end a lock or a cancellation may still be on its way
                self._connection.keep()
            seconds = time.perf_counter() - started
            _report_end(job, state, seconds, log)
            services.spans.note(
                span, f"job {job.kind}", "consumer", seconds, span_attributes(job, state), failed=state != "succeeded"
            )
            return state

    def close(self) -> None:
        """Close the connection that is kept from one job to the next."""
        self._connection.close()

    def unless_unavailable(self, act: Callable[[str], object], job_id: str) -> None:
        """Act; if a store is unavailable, count and log that instead of raising."""
        try:
            act(job_id)
        except Exception as error:
            store = store_at_fault(error)
            if store is None:
                raise
            metrics.store_errors.labels(store).inc()
            self._services.log.warning("store-down", store=store, job=job_id, error=type(error).__name__)

    def _attempt(self, connection: Connection, job: ClaimedJob, log: Log) -> str | None:
        """Run the handler and publish; return the job's new state, None if another worker has it or may claim it."""
        settings = self._services.settings
        lease = Lease(
            settings.worker_database_url,
            job.id,
            job.attempt,
            settings.lease_ttl_seconds,
            JOB_KINDS[job.kind].seconds_max,
            stop=lambda: cancel_statement(connection),
        )
        try:
            return "succeeded" if self._run(JobContext(self._services, connection, job, lease)) else None
        except Exception as error:
            if isinstance(error, LeaseLost) or lease.lost.is_set():  # or the error is how the cancelled statement ended
                if lease.failure is not None:
                    _log_failure(log, lease.failure)
                return None
            _log_failure(log, error)
            state = _record_failure(connection, job, error, late=lease.late.is_set())
            if self._raises_outages and store_at_fault(error) is not None:
                raise
            return state

    def _run(self, context: JobContext) -> bool:
        """Run under the lease and publish; False, and nothing published, if the attempt no longer holds the job."""
        handler = self._handlers[context.job.kind]
        with context.lease:
            outcome = handler.run(context)
        context.lease.check()
        published = handler.publish(context, outcome)
        metrics.result_bytes_made.labels(context.job.kind).inc(outcome.bytes if published else 0)
        return published


def _record_failure(connection: Connection, job: ClaimedJob, error: Exception, *, late: bool) -> str | None:
    """Record in the row why the attempt failed; return the new state, None if the row cannot be written.

    An outage of a store or of PostgreSQL does not count as an attempt: the job is tried again later.
    """
    refusal, store = _refusal(error, late=late), store_at_fault(error)
    try:
        if store is not None and not refusal.final:
            metrics.store_errors.labels(store).inc()
            state = retry_later(connection, job, refusal.problem)
            if state is not None:
                return state
        return fail(connection, job, refusal.problem, final=refusal.final)
    except psycopg.Error as failure:
        if not unavailable(failure):
            raise
        return None  # the row cannot be written now; the lease expires, and the job is claimed again


def _log_failure(log: Log, error: Exception) -> None:
    """Log where an attempt failed: a warning for a refusal or an outage, an error for anything unexpected."""
    failure = {"error": type(error).__name__, "trace": trace_of(error)}
    if isinstance(error, ItemIndexError) or store_at_fault(error) is not None:
        log.warning("job-attempt-failed", **failure)
    else:
        log.error("job-attempt-failed", **failure)


def _refusal(error: Exception, *, late: bool) -> _Refusal:
    if late or isinstance(error, JobTimeout):
        return _Refusal({"slug": "job-timeout", "detail": "The job took longer than its kind may."}, final=True)
    if isinstance(error, InvalidParameter):  # a fault that only the data can show, such as a range without any
        return _Refusal({"slug": "invalid-parameter", "detail": str(error)}, final=True)
    if isinstance(error, JobRefused):
        return _Refusal({"slug": error.slug, "detail": str(error)}, final=True)
    # Only the text of our own errors is public: another library's text may quote a row or an address.
    detail = str(error) if isinstance(error, ItemIndexError) else type(error).__name__
    return _Refusal({"slug": "job-failed", "detail": detail}, final=False)


def _report_end(job: ClaimedJob, state: str | None, seconds: float, log: Log) -> None:
    if state is None:
        log.warning("job-lost")
        metrics.jobs_lost.labels(job.kind).inc()
        return
    metrics.job_seconds.labels(job.kind).observe(seconds)
    if state != "queued":
        metrics.jobs_finished.labels(job.kind, state).inc()
        metrics.job_attempts.labels(job.kind).observe(job.attempt)
    log.info("job-finished", state=state, seconds=round(seconds, 3))
