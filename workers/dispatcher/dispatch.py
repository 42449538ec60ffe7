"""From job rows to messages: listens for new rows, sends their ids to Celery's queues, requeues expired leases."""

import contextlib
import gc
import signal
import time
from functools import partial
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple

import psycopg

from shared.db.connect import Connection, unavailable
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.events.webhooks import RETRY_SECONDS
from shared.jobs.contract import DELIVER, DELIVER_QUEUE, EXECUTE, JOB_KINDS, QUEUES
from shared.organizations.accounts import BRAND
from shared.settings.settings import settings_or_exit
from shared.telemetry import metrics
from shared.telemetry.http_server import serve_metrics
from workers.dispatcher.maintenance import Maintenance
from workers.dispatcher.refunds import Refunds
from workers.dispatcher.steps import SWEEP, Steps
from workers.jobs.job import trace_fields
from workers.jobs.progress import touch_while
from workers.jobs.services import WorkerServices, build_services
from workers.jobs.startup import settings_at_start

SQL = load_queries(__file__, "dispatch.sql")
_SWEEP_SECONDS = 2.0
_DELIVERY_PAUSE_SECONDS = 1.0
# Messages of one queue that the broker holds unclaimed: enough to keep workers busy, few enough that the next free
# worker is still given to the organization with the fewest running jobs.
_DISPATCHED_MAX = 8
# Workers that write parts of one export beside the one that plans it.
_PART_WORKERS_MAX = 3
# Messages that a queue of the broker may hold, whatever put them there: also those of jobs that were cancelled while no
# worker ran. The broker may share its memory with the counters of quotas; a message has about a kilobyte.
_MESSAGES_MAX = 1_000
# By then a supervisor has not yet killed the process.
_STOP_SECONDS = 5.0
_BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0)


class _Due(NamedTuple):
    """A job whose message is to be sent; `sent_at` is when that was done before, in seconds since 1970."""

    job: str
    kind: str
    queue: str
    turn: int
    trace: str | None
    sent_at: float | None


class Dispatcher:
    """Sends a message for every queued job until a worker claims it. Any number of dispatchers may run.

    A job that is not claimed within `resend_seconds` is sent again where its queue holds fewer messages than jobs wait
    for a worker: some were lost. While workers are stopped none is lost, and none is sent again. A dispatcher that has
    not completed a sweep for `stalled_seconds` is not healthy.
    """

    def __init__(
        self,
        services: WorkerServices,
        *,
        resend_seconds: int = 10,
        stalled_seconds: float = 120.0,
        messages_max: int = _MESSAGES_MAX,
    ) -> None:
        self._services = services
        self._settings = services.settings
        self._log = services.log
        self._resend_seconds = resend_seconds
        self._stalled_seconds = stalled_seconds
        self._messages_max = messages_max
        self._down: str | None = None
        self._refunds = Refunds(services.settings, services.log)
        self._steps = Steps(services.log, SWEEP)
        self._next_sweep = self._next_delivery = 0.0
        self._swept_at = time.monotonic()
        self._failures = 0
        self._queue_lengths: dict[str, int] = {}
        self.stopping = False
        metrics.begin_at_zero(metrics.jobs_lost, JOB_KINDS)
        metrics.begin_at_zero(metrics.results_lost, JOB_KINDS)
        metrics.begin_at_zero(metrics.jobs_finished, JOB_KINDS, ["failed"])

    @property
    def healthy(self) -> bool:
        """Whether it sweeps. An outage of PostgreSQL does not count against it: a restart would not help."""
        return self._down == "database" or time.monotonic() - self._swept_at < self._stalled_seconds

    def run(self) -> None:
        """Work until stopped; PostgreSQL and the broker may fail, turn read-only and recover meanwhile."""
        while not self.stopping:
            try:
                with self._services.connect("dispatcher", autocommit=True) as connection:
                    connection.execute(SQL.set_idle_timeout)
                    connection.execute("LISTEN jobs_queued")
                    connection.execute("LISTEN events")
                    self._serve(connection)
            except psycopg.Error as error:
                if not unavailable(error):
                    raise
                self._note_down("database")
                time.sleep(_BACKOFF_SECONDS[min(self._failures, len(_BACKOFF_SECONDS) - 1)])
                self._failures += 1

    def sweep(self, connection: Connection) -> int | None:
        """Requeue expired leases, settle refunds, dispatch queued jobs; return how many messages were sent.

        None if jobs could not be dispatched, by no outage.
        """
        sent: list[int] = []
        self._steps.run("requeue", lambda: self._requeue(connection))
        self._steps.run("refund", lambda: self._refunds.settle(connection))
        self._steps.run("dispatch", lambda: sent.append(self._dispatch(connection)))
        return sent[0] if sent else None

    def _requeue(self, connection: Connection) -> None:
        for job, kind, state, expired, trace in connection.execute(SQL.requeue_expired).fetchall():
            self._log.warning("job-lost", job=job, kind=kind, attempt=expired, state=state, **trace_fields(trace))
            metrics.jobs_lost.labels(kind).inc()
            if state == "failed":
                metrics.jobs_finished.labels(kind, state).inc()
                metrics.job_attempts.labels(kind).observe(expired)

    def settle_clock(self, connection: Connection) -> None:
        """Bring forward what a clock of PostgreSQL that was ahead has put too far off: jobs, webhooks and mails."""
        settled = connection.execute(SQL.settle_jobs, (self._settings.lease_ttl_seconds,)).fetchall()
        webhooks = connection.execute(SQL.settle_webhooks, (list(RETRY_SECONDS),)).fetchall()
        mails = connection.execute(SQL.settle_mails, (list(RETRY_SECONDS),)).fetchall()
        if settled or webhooks or mails:
            self._log.warning("clock-set-back", jobs=len(settled), webhooks=len(webhooks) + len(mails))

    def measure(self, connection: Connection) -> None:
        """Set the gauges of all queues; one that is empty is 0, not what it was."""
        depths = {(queue, state): (count, age) for queue, state, count, age in connection.execute(SQL.queue_depth)}
        for queue in QUEUES:
            for state in ("queued", "running"):
                metrics.queue_depth.labels(queue, state).set(depths.get((queue, state), (0, 0))[0])
            metrics.queue_age_seconds.labels(queue).set(depths.get((queue, "queued"), (0, 0.0))[1])
        if self._down != "broker":
            with contextlib.suppress(StoreUnavailable):
                for queue in [queue for queue, held in self._queue_lengths.items() if held]:
                    self._look(queue)

    def _serve(self, connection: Connection) -> None:
        while not self.stopping:
            now = time.monotonic()
            if now >= self._next_sweep:
                self._next_sweep = now + _SWEEP_SECONDS
                self._steps.run("settle-clock", lambda: self.settle_clock(connection))
                self._steps.run("measure", lambda: self.measure(connection))
            sent = self.sweep(connection)
            self._steps.run("deliver", partial(self.order_deliveries, connection, now))
            # Only now is PostgreSQL back: a read-only one lets a dispatcher connect and listen, but change no row.
            self._note_back("database")
            self._failures = 0
            if sent is not None:
                self._swept_at = time.monotonic()
                metrics.dispatcher_heartbeat_seconds.set_to_current_time()
            for _ in connection.notifies(timeout=max(0.05, self._next_sweep - time.monotonic()), stop_after=1):
                pass

    def order_deliveries(self, connection: Connection, now: float) -> None:
        """Send a message where a webhook or a mail is due that no worker sends: one a second at most."""
        if now < self._next_delivery:
            return
        [[due]] = connection.execute(SQL.webhooks_due, (BRAND,)).fetchall()
        if due:
            self._next_delivery = now + _DELIVERY_PAUSE_SECONDS
            with contextlib.suppress(StoreUnavailable):  # the next sweep tries again
                if not self._look(DELIVER_QUEUE):  # one that waits for a worker serves whatever is due when it is taken
                    self._services.messages.send(DELIVER, "", DELIVER_QUEUE)

    def _dispatch(self, connection: Connection) -> int:
        with connection.transaction():
            connection.execute(SQL.dispatch_lock)
            values = (self._resend_seconds, _DISPATCHED_MAX, _PART_WORKERS_MAX)
            selected = connection.execute(SQL.select_dispatchable, values).fetchall()
        due = [_Due(*row) for row in selected]
        due.sort(key=lambda job: (job.turn, job.sent_at is not None))  # RETURNING keeps no order, the broker does
        try:
            due = self._within_bounds(connection, due)
        except StoreUnavailable:
            self._note_broker(up=False)
            sent = []
        else:
            # Not one try more after the first failure: a broker that hangs takes half a minute for each.
            sent = list(takewhile(self._send, due))
        # Jobs that were sent before stay sent: the broker may still have their messages.
        if unsent := [job.job for job in due[len(sent) :] if job.sent_at is None]:
            connection.execute(SQL.undo_dispatch, (unsent,))
        return len(sent)

    def _within_bounds(self, connection: Connection, due: list[_Due]) -> list[_Due]:
        """Return the jobs to send: none whose message its queue still holds, and none into a full queue.

        What is left out of a full queue was not sent, so it is due at the next sweep; what is not sent again is due
        after another `resend_seconds`.
        """
        queues = sorted({job.queue for job in due})
        if not queues:
            return []
        resent = sorted({job.queue for job in due if job.sent_at is not None})
        unclaimed: dict[str, int] = dict(connection.execute(SQL.unclaimed, (resent,)).fetchall()) if resent else {}
        chosen, full = list[_Due](), list[str]()
        for queue in queues:
            held = self._look(queue)
            new = [job for job in due if job.queue == queue and job.sent_at is None]
            again = sorted(
                (job for job in due if job.queue == queue and job.sent_at is not None), key=attrgetter("sent_at")
            )
            lost = max(0, unclaimed.get(queue, 0) - len(new) - held)
            room = max(0, self._messages_max - held)
            chosen += (new + again[:lost])[:room]
            full += [job.job for job in new[room:]]
        if full:
            connection.execute(SQL.undo_dispatch, (full,))
        wanted = {job.job for job in chosen}
        return [job for job in due if job.job in wanted]

    def _look(self, queue: str) -> int:
        """Return how many messages the broker holds of a queue, and note it. Raises StoreUnavailable."""
        self._queue_lengths[queue] = held = self._services.messages.count_waiting(queue)
        metrics.broker_messages.labels(queue).set(held)
        return held

    def _send(self, due: _Due) -> bool:
        try:
            self._services.messages.send(EXECUTE, due.job, due.queue)
        except StoreUnavailable:
            self._note_broker(up=False)
            return False
        self._note_broker(up=True)
        metrics.jobs_dispatched.labels(due.kind).inc()
        self._log.info("job-dispatched", job=due.job, kind=due.kind, **trace_fields(due.trace))
        return True

    def _note_broker(self, *, up: bool) -> None:
        (self._note_back if up else self._note_down)("broker")
        metrics.store_up.labels("broker").set(up)

    def _note_down(self, store: str) -> None:
        if self._down != store:
            self._down = store
            self._log.warning("store-down", store=store)

    def _note_back(self, store: str) -> None:
        if self._down == store:
            self._down = None
            self._log.info("store-back", store=store)


def main() -> None:
    """Run a dispatcher until SIGTERM or SIGINT."""
    services = build_services(settings_at_start(), "dispatcher")
    settings, log = services.settings, services.log
    dispatcher, maintenance = Dispatcher(services), Maintenance(services)
    gc.freeze()  # imported modules stay: no collection needs to look at them, and least the one at the end

    def stop(number: int, frame: object) -> None:
        dispatcher.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    settings_or_exit(lambda: serve_metrics(settings, lambda: dispatcher.healthy))
    touch_while(lambda: dispatcher.healthy, settings.heartbeat_file)
    metrics.processes.labels("dispatcher", settings.revision).set(1)
    metrics.store_up.labels("broker").set(1)
    log.info("started", revision=settings.revision)
    maintenance.start()
    dispatcher.run()
    maintenance.stop(_STOP_SECONDS)
    metrics.processes.labels("dispatcher", settings.revision).set(0)
    log.info("stopped")
