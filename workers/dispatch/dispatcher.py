"""From job rows to doorbells: hears of new rows by NOTIFY, rings Celery's queue, and sweeps up what a crash left."""

import signal
import time

import psycopg
from kombu.exceptions import OperationalError as BrokerError

from shared.config import Settings, settings_or_exit
from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import beside
from shared.errors import StoreUnavailable
from shared.jobs.contract import EXECUTE, QUEUES
from shared.objects.open import store_of
from shared.telemetry import metrics
from shared.telemetry.http_server import keep_watch
from shared.telemetry.log import Log
from workers.app import app
from workers.dispatch.missing import confirm_missing
from workers.dispatch.refunds import Refunds
from workers.dispatch.retention import tidy
from workers.progress import touch_while
from workers.releases.retention import expire, order_due
from workers.telemetry import traced

SQL = beside(__file__, "dispatcher.sql")
_SWEEP_SECONDS = 2.0
_TIDY_SECONDS = 30.0
_EXPIRY_SECONDS = 600.0
_RING_AGAIN_SECONDS = 10
# A sweep of results on a slow store may take its time; nothing else does.
_WELL_SECONDS = 120.0
# Doorbells of one queue that lie at the broker unclaimed: enough to keep workers busy, too few to jump a fair line.
_RUNG_MAX = 8
_BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0)


class Dispatcher:
    """Rings for every queued job until somebody claims it. Any number of dispatchers may run."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings = settings
        self._log = log
        self._down: str | None = None
        self._refunds = Refunds(settings, log)
        self._results = store_of(settings)
        self._next_sweep = self._next_tidy = self._next_expiry = 0.0
        self._swept_at = time.monotonic()
        self._failures = 0
        self.stopping = False

    @property
    def well(self) -> bool:
        """Whether it goes round. PostgreSQL's outage is not its own illness: a restart would not help."""
        return self._down == "database" or time.monotonic() - self._swept_at < _WELL_SECONDS

    def run(self) -> None:
        """Work until stopped; PostgreSQL and the broker may fail, turn read-only and recover meanwhile."""
        while not self.stopping:
            try:
                with connect(
                    self._settings.worker_database_url, application="dispatcher", autocommit=True
                ) as connection:
                    connection.execute(SQL.let_go)
                    connection.execute("LISTEN jobs_queued")
                    self._serve(connection)
            except psycopg.Error as error:
                if not unavailable(error):
                    raise
                self._tell_down("database")
                time.sleep(_BACKOFF_SECONDS[min(self._failures, len(_BACKOFF_SECONDS) - 1)])
                self._failures += 1

    def sweep(self, connection: Connection) -> int:
        """Take back lapsed leases, ring for what is queued, settle refunds; return how often it rang."""
        for job, kind, state, lapsed, trace in connection.execute(SQL.lapse).fetchall():
            self._log.warning("job-lost", job=job, kind=kind, attempt=lapsed, state=state, **traced(trace))
            metrics.jobs_lost.labels(kind).inc()
            if state == "failed":
                metrics.jobs_finished.labels(kind, state).inc()
                metrics.job_attempts.labels(kind).observe(lapsed)
        self._refunds.settle(connection)
        return self._ring_all(connection)

    def settle_clock(self, connection: Connection) -> None:
        """Bring back what a clock of PostgreSQL that was ahead has put too far off, for jobs and parts of exports."""
        ttl = (self._settings.lease_ttl_seconds,)
        settled = [row for query in (SQL.settle_jobs, SQL.settle_parts) for row in connection.execute(query, ttl)]
        if settled:
            self._log.warning("clock-set-back", jobs=len({job for (job,) in settled}))

    def measure(self, connection: Connection) -> None:
        """Set the gauges of all queues; one that is empty is 0, not what it was."""
        found = {(queue, state): (count, age) for queue, state, count, age in connection.execute(SQL.depth)}
        for queue in QUEUES:
            for state in ("queued", "running"):
                metrics.queue_depth.labels(queue, state).set(found.get((queue, state), (0, 0))[0])
            metrics.queue_age_seconds.labels(queue).set(found.get((queue, "queued"), (0, 0.0))[1])

    def _serve(self, connection: Connection) -> None:
        while not self.stopping:
            now = time.monotonic()
            self._keep_house(connection, now)
            if now >= self._next_sweep:
                self._next_sweep = now + _SWEEP_SECONDS
                self.settle_clock(connection)
                self.measure(connection)
            self.sweep(connection)
            # Only now is PostgreSQL back: a read-only one lets a dispatcher connect and listen, but change no row.
            self._tell_back("database")
            self._failures = 0
            self._swept_at = time.monotonic()
            metrics.dispatcher_heartbeat_seconds.set_to_current_time()
            for _ in connection.notifies(timeout=max(0.05, self._next_sweep - time.monotonic()), stop_after=1):
                pass

    def _keep_house(self, connection: Connection, now: float) -> None:
        """Do what has its time. A store of results that is away stops nothing but its own sweeping."""
        try:
            if now >= self._next_tidy:
                self._next_tidy = now + _TIDY_SECONDS
                order_due(self._settings, connection)
                confirm_missing(connection, self._results, self._log, self._settings.result_missing_seconds)
                tidy(connection, self._results, self._log)
            if now >= self._next_expiry:
                self._next_expiry = now + _EXPIRY_SECONDS
                expire(connection, self._results, self._log)
        except (StoreUnavailable, OSError):
            metrics.store_errors.labels("results").inc()

    def _ring_all(self, connection: Connection) -> int:
        with connection.transaction():
            connection.execute(SQL.alone)
            taken = connection.execute(SQL.take, (_RING_AGAIN_SECONDS, _RUNG_MAX)).fetchall()
        taken.sort(key=lambda row: row[3])  # RETURNING keeps no order, and the broker does
        unsent = [job for job, kind, queue, _, trace in taken if not self._ring(job, kind, queue, trace)]
        if unsent:
            connection.execute(SQL.untake, (unsent,))
        return len(taken) - len(unsent)

    def _ring(self, job: str, kind: str, queue: str, trace: str | None) -> bool:
        try:
            app.send_task(EXECUTE, args=[job], queue=queue, retry=False)
        except (BrokerError, OSError):
            self._tell_down("broker")
            metrics.store_up.labels("broker").set(0)
            return False
        self._tell_back("broker")
        metrics.store_up.labels("broker").set(1)
        metrics.jobs_dispatched.labels(kind).inc()
        self._log.info("job-dispatched", job=job, kind=kind, **traced(trace))
        return True

    def _tell_down(self, store: str) -> None:
        if self._down != store:
            self._down = store
            self._log.warning("store-down", store=store)

    def _tell_back(self, store: str) -> None:
        if self._down == store:
            self._down = None
            self._log.info("store-back", store=store)


def main() -> None:
    """Run a dispatcher until SIGTERM or SIGINT."""
    settings = settings_or_exit()
    log = Log("dispatcher", level=settings.log_level)
    dispatcher = Dispatcher(settings, log)

    def stop(number: int, frame: object) -> None:
        dispatcher.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    keep_watch(settings, lambda: dispatcher.well)
    touch_while(lambda: dispatcher.well, settings.heartbeat_file)
    metrics.processes.labels("dispatcher", settings.revision).set(1)
    metrics.store_up.labels("broker").set(1)
    log.info("started", revision=settings.revision)
    dispatcher.run()
    metrics.processes.labels("dispatcher", settings.revision).set(0)
    log.info("stopped")


if __name__ == "__main__":
    main()
