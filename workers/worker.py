"""A worker: a Celery process whose pool processes take jobs under leases and run each attempt: claim, run, publish."""

import argparse
import contextlib
import gc
import select
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import psycopg
from billiard import current_process
from celery import signals
from celery.utils.nodenames import default_nodename, host_format
from celery.worker.consumer import Consumer
from psycopg.pq import TransactionStatus
from threadpoolctl import threadpool_limits

from shared.db.connect import Connection, unavailable
from shared.errors import InvalidParameter, ItemIndexError, JobRefused, StoreUnavailable
from shared.jobs.contract import DELIVER, EXECUTE, HELP_EXPORT, JOB_KINDS
from shared.processes import without_pandas
from shared.settings.settings import Settings, settings_or_exit
from shared.telemetry import metrics
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log, adopt_libraries, trace_of
from shared.telemetry.spans import step_from
from workers.bulk.exports import help_export
from workers.events.webhooks import deliver
from workers.handlers import job_handlers
from workers.jobs.app import REASONS, UNREADABLE, celery_app, refused
from workers.jobs.context import Job, Services, build_services, span_attributes
from workers.jobs.job_handler import Handlers, JobContext
from workers.jobs.leases import JobTimeout, Lease, LeaseLost, cancel_statement, claim, fail, retry_later
from workers.jobs.progress import WorkerProgress, beat_until_end, watch

# Celery's consumer, made to survive any message: one that it cannot read is refused, counted and never quoted.


_TURN_SECONDS = 1.0


# Options that no task of ours has. Celery reads some of them only after it has taken a place in its pool, and
# an error there keeps the place for ever.
_NEVER_SENT = ("eta", "expires", "timelimit")


def _asks_for_more(headers: Any) -> bool:
    given = headers if isinstance(headers, dict) else {}
    return any(given.get(name) not in (None, [None, None]) for name in _NEVER_SENT)


class JobConsumer(Consumer):  # type: ignore[misc]
    """Refuses messages that Celery would log whole or that would end the worker process; notes that its loop turns.

    A refused message is not a lost job: the job's row stays, and the dispatcher sends another message for it.
    """

    def __init__(self, *arguments: Any, progress: WorkerProgress, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._progress = progress
        self._celery_loop: Callable[..., None] = self.loop  # type: ignore[has-type]
        self.loop = self._turning_loop

    def _turning_loop(self, *arguments: Any) -> None:
        self._progress.turned()
        timer = self.hub.timer.call_repeatedly(_TURN_SECONDS, self._progress.turned)
        try:
            self._celery_loop(*arguments)
        finally:
            timer.cancel()
            self._progress.left_loop()

    def create_task_handler(self, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
        """Return the handler of a received message; it raises for a lost broker only."""
        handle = super().create_task_handler(*arguments, **options)

        def handled(message: Any) -> Any:
            if _asks_for_more(message.headers):
                return self._refuse(message, "invalid-task", None)
            try:
                return handle(message)
            except UNREADABLE as error:
                self._refuse(message, "unreadable", error)
            except self.connection_errors:
                raise
            except Exception as error:  # noqa: BLE001 - any content of a message must leave the worker alive
                self._refuse(message, "unreadable", error)

        return handled

    def on_unknown_message(self, body: Any, message: Any) -> None:
        """Refuse a message that is no task."""
        self._refuse(message, "no-task", None)

    def on_unknown_task(self, body: Any, message: Any, exc: BaseException) -> None:
        """Refuse a task that we do not have."""
        self._refuse(message, "unknown-task", None)

    def on_invalid_task(self, body: Any, message: Any, exc: BaseException) -> None:
        """Refuse a task with arguments or a content type that we do not take."""
        self._refuse(message, "invalid-task", exc)

    def on_decode_error(self, message: Any, exc: BaseException) -> None:
        """Refuse a message whose body is not what its headers say."""
        self._refuse(message, "unreadable", exc)

    def _refuse(self, message: Any, reason: str, error: BaseException | None) -> None:
        body = message.body if isinstance(message.body, bytes | str | memoryview) else b""
        refused(reason, error, len(body))
        if not message.acknowledged:
            message.reject()


# A worker: a Celery process whose pool processes take jobs under leases and run them.


class KeptConnection:
    """Lends one connection at a time, and keeps it idle for `idle_seconds_max`; with 0 each one is closed.

    It is kept only after `keep`, and only where no transaction is left in its session.
    """

    def __init__(
        self, connect: Callable[[], Connection], idle_seconds_max: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connect = connect
        self._idle_seconds_max = idle_seconds_max
        self._clock = clock
        self._idle: Connection | None = None
        self._idle_since = 0.0
        self._keep = False

    @contextlib.contextmanager
    def lent(self) -> Iterator[Connection]:
        """Lend the kept connection, or a new one. Raises psycopg.OperationalError if PostgreSQL is unavailable."""
        connection = self._usable() or self._connect()
        self._keep = False
        try:
            yield connection
        finally:
            if self._keep and connection.info.transaction_status is TransactionStatus.IDLE and connection.autocommit:
                self._idle, self._idle_since = connection, self._clock()
            else:
                connection.close()

    def keep(self) -> None:
        """Keep the connection that is lent: its borrower has ended well and holds no lock of the session."""
        self._keep = self._idle_seconds_max > 0

    def close(self) -> None:
        """Close the kept connection."""
        if self._idle is not None:
            self._idle.close()
            self._idle = None

    def _usable(self) -> Connection | None:
        """Return the kept connection unless it is old, or the server has said anything: then it has ended."""
        connection, self._idle = self._idle, None
        if connection is None:
            return None
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if self._clock() - self._idle_since < self._idle_seconds_max and not poll.poll(0):
            return connection
        connection.close()
        return None


# One attempt at a job: claim, run, publish. The handler of a kind of job does the work itself.


_DELIVERY_SECONDS = 60.0


class _Refusal(NamedTuple):
    """Why an attempt failed, and whether another attempt can help."""

    problem: dict[str, Any]
    final: bool


class JobRunner:
    """Runs jobs in one process, one after the other, on one connection if it may stay idle for so many seconds."""

    def __init__(self, services: Services, handlers: Handlers, idle_connection_seconds: float = 0.0) -> None:
        self._services = services
        self._handlers = handlers
        self._connection = KeptConnection(lambda: services.connect("worker", autocommit=True), idle_connection_seconds)

    def execute(self, job_id: str) -> None:
        """Run a job if it is queued. A repeated message finds nothing to claim.

        If PostgreSQL is unavailable the message is dropped: the row stays queued, and the dispatcher sends another one.
        """
        self._unless_unavailable(self.run, job_id)

    def help_export(self, job_id: str) -> None:
        """Write parts of a running export; a message that comes too late finds none."""
        self._unless_unavailable(self._help_export, job_id)

    def deliver_webhooks(self) -> None:
        """Send what is due to webhooks; the dispatcher sends another message while something is left."""
        self._unless_unavailable(lambda _: deliver(self._services.settings, _DELIVERY_SECONDS), "")

    def run(self, job_id: str) -> str | None:
        """Claim and run a job; return the state it reached, None if it was not queued or its lease was lost."""
        services = self._services
        with self._connection.lent() as connection:
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

    def _unless_unavailable(self, act: Callable[[str], object], job_id: str) -> None:
        try:
            act(job_id)
        except Exception as error:
            store = _store_at_fault(error)
            if store is None:
                raise
            metrics.store_errors.labels(store).inc()
            self._services.log.warning("store-down", store=store, job=job_id, error=type(error).__name__)

    def _help_export(self, job_id: str) -> None:
        with self._services.connect("worker", autocommit=True) as connection:
            help_export(self._services, connection, job_id)

    def _attempt(self, connection: Connection, job: Job, log: Log) -> str | None:
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
        except Exception as error:  # noqa: BLE001 - the row must record any error, or the job would wait for its lease to end
            if isinstance(error, LeaseLost) or lease.lost.is_set():  # or the error is how the cancelled statement ended
                if lease.failure is not None:
                    _log_failure(log, lease.failure)
                return None
            _log_failure(log, error)
            return _record_failure(connection, job, error, late=lease.late.is_set())

    def _run(self, context: JobContext) -> bool:
        """Run under the lease and publish; False, and nothing published, if the attempt no longer holds the job."""
        handler = self._handlers[context.job.kind]
        with context.lease:
            outcome = handler.run(context)
        context.lease.check()
        published = handler.publish(context, outcome)
        metrics.result_bytes_made.labels(context.job.kind).inc(outcome.bytes if published else 0)
        return published


def _record_failure(connection: Connection, job: Job, error: Exception, *, late: bool) -> str | None:
    """Record in the row why the attempt failed; return the new state, None if the row cannot be written.

    An outage of a store or of PostgreSQL does not count as an attempt: the job is tried again later.
    """
    refusal, store = _refusal(error, late=late), _store_at_fault(error)
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


def _store_at_fault(error: Exception) -> str | None:
    """Name the store whose outage the error is, None if it is no outage."""
    if unavailable(error):
        return "database"
    if isinstance(error, StoreUnavailable):
        return error.store
    return "results" if isinstance(error, OSError) else None


def _log_failure(log: Log, error: Exception) -> None:
    """Log where an attempt failed: a warning for a refusal or an outage, an error for anything unexpected."""
    failure = {"error": type(error).__name__, "trace": trace_of(error)}
    if isinstance(error, ItemIndexError | OSError) or unavailable(error):
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


def _report_end(job: Job, state: str | None, seconds: float, log: Log) -> None:
    if state is None:
        log.warning("job-lost")
        metrics.jobs_lost.labels(job.kind).inc()
        return
    metrics.job_seconds.labels(job.kind).observe(seconds)
    if state != "queued":
        metrics.jobs_finished.labels(job.kind, state).inc()
        metrics.job_attempts.labels(job.kind).observe(job.attempt)
    log.info("job-finished", state=state, seconds=round(seconds, 3))


# Longer than the pauses of a busy queue; a worker that has nothing to do gives its place at the server back.
_IDLE_CONNECTION_SECONDS = 300.0
_QUIET = {"quiet": True, "without_gossip": True, "without_mingle": True, "without_heartbeat": True}


class Worker:
    """A worker's main process and, after the fork, each process of its pool: only the latter build services."""

    def __init__(self, settings: Settings, handlers: Callable[[Services], Handlers]) -> None:
        self._settings = settings
        self._handlers = handlers
        self._progress = WorkerProgress()
        self._services: Services | None = None
        self._runner: JobRunner | None = None
        self.celery = celery_app(settings)
        self.celery.conf.worker_consumer = partial(JobConsumer, progress=self._progress)
        self.celery.task(name=EXECUTE, shared=False)(self._execute)
        self.celery.task(name=HELP_EXPORT, shared=False)(self._help_export)
        self.celery.task(name=DELIVER, shared=False)(self._deliver)
        metrics.begin_at_zero(metrics.messages_refused, REASONS)
        metrics.begin_at_zero(metrics.jobs_lost, JOB_KINDS)
        metrics.begin_at_zero(metrics.jobs_finished, JOB_KINDS, ["failed"])

    def run(self, queues: str | None, processes: int | None, name: str | None) -> int:
        """Take jobs from these queues (comma-separated; None: all) until a signal ends it; return the exit code.

        Without a number there are as many processes as cores. In the name, `%h` is the host's.
        """
        # Celery holds receivers weakly unless asked not to, and nothing else holds a bound method.
        signals.setup_logging.connect(self.set_up_logging, weak=False)
        signals.worker_ready.connect(self._watch, weak=False)
        signals.worker_process_init.connect(self._begin_process, weak=False)
        signals.worker_process_shutdown.connect(self._end_process, weak=False)
        # Not by Celery's command line: the terminal that it imports is a fifth of what a worker's start costs.
        worker = self.celery.Worker(
            hostname=host_format(default_nodename(name)), queues=queues, concurrency=processes, **_QUIET
        )
        worker.start()
        return worker.exitcode or 0

    def set_up_logging(self, **given: Any) -> None:
        """Write Celery's log records as JSON lines; LOG_LEVEL decides which. Celery then configures no logging."""
        adopt_libraries(Log("worker", level=self._settings.log_level))

    def _execute(self, job_id: str) -> None:
        assert self._runner is not None
        self._runner.execute(job_id)

    def _help_export(self, job_id: str) -> None:
        assert self._runner is not None
        self._runner.help_export(job_id)

    def _deliver(self, _: str) -> None:
        assert self._runner is not None
        self._runner.deliver_webhooks()

    def _watch(self, sender: Any, **given: Any) -> None:
        """Serve metrics and health, and watch the pool, in the main process, which runs no jobs.

        `sender` is the consumer; it is ready again after each loss of the broker, and is watched once.
        """
        if self._progress.watched:
            return
        self._progress.watched = True
        settings_or_exit(lambda: serve_metrics(self._settings, lambda: self._progress.healthy))
        watch(self._progress, lambda: _pool_of(sender.controller), self._settings.heartbeat_file)
        Log("worker", level=self._settings.log_level).info("started", revision=self._settings.revision)

    def _begin_process(self, **given: Any) -> None:
        # There is a process for each core: threads of numpy's would wait for those of the other processes, and a price
        # index of 900 days then takes three times as long.
        threadpool_limits(limits=1)
        self._services = build_services(self._settings, "worker")
        self._runner = JobRunner(self._services, self._handlers(self._services), _IDLE_CONNECTION_SECONDS)
        beat_until_end(self._progress, current_process().index)
        metrics.processes.labels("worker", self._settings.revision).set(1)

    def _end_process(self, **given: Any) -> None:
        metrics.processes.labels("worker", self._settings.revision).set(0)
        if self._runner is not None:
            self._runner.close()
        if self._services is not None:
            self._services.spans.close()


def _pool_of(worker: Any) -> list[tuple[int, int]]:
    return [(process.index, process.pid) for process in list(worker.pool._pool._pool) if process.pid is not None]


def main(handlers: Callable[[Services], Handlers] = job_handlers) -> None:
    """Run a worker with the settings of the environment and the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m workers", description=__doc__)
    parser.add_argument("-Q", dest="queues", help="queues, separated by commas; all unless given")
    parser.add_argument("-c", dest="processes", type=int, help="processes of the pool; one for each core unless given")
    parser.add_argument("-n", dest="name", help="the worker's name; %%h stands for the host")
    given = parser.parse_args()
    without_pandas()
    gc.freeze()  # what is imported stays: no collection, in no process of the pool, needs to look at it
    sys.exit(Worker(settings_or_exit(), handlers).run(given.queues, given.processes, given.name))
