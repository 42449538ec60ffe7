"""From job rows to doorbells: hears of new rows by NOTIFY, rings Celery's queue, and sweeps up what a crash left."""

import signal
import time

import psycopg
from kombu.exceptions import OperationalError as BrokerError

from shared import metrics
from shared.config import Settings
from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.jobs.contract import EXECUTE
from shared.log import Log
from workers.app import app

SQL = beside(__file__, "relay.sql")
_SWEEP_SECONDS = 2.0
_RING_AGAIN_SECONDS = 15
_BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0)


class Relay:
    """Rings for every queued job until somebody claims it. Any number of relays may run."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings = settings
        self._log = log
        self._down: str | None = None
        self.stopping = False

    def run(self) -> None:
        """Work until told to stop; PostgreSQL and the broker may come and go."""
        attempt = 0
        while not self.stopping:
            try:
                with connect(self._settings.worker_database_url, application="relay", autocommit=True) as connection:
                    connection.execute("LISTEN jobs_queued")
                    attempt = 0
                    self._serve(connection)
            except psycopg.OperationalError:
                self._tell_down("database")
                time.sleep(_BACKOFF_SECONDS[min(attempt, len(_BACKOFF_SECONDS) - 1)])
                attempt += 1

    def sweep(self, connection: Connection) -> int:
        """Take back lapsed leases, ring for what is queued; return how often it rang."""
        for job, kind, state, lapsed in connection.execute(SQL.lapse.encode()).fetchall():
            self._log.warning("job-lost", job=job, kind=kind, attempt=lapsed, state=state)
            if state == "failed":
                metrics.jobs_finished.labels(kind, state).inc()
        taken = connection.execute(SQL.take.encode(), (_RING_AGAIN_SECONDS,)).fetchall()
        unsent = [job for job, kind, queue in taken if not self._ring(job, kind, queue)]
        if unsent:
            connection.execute(SQL.untake.encode(), (unsent,))
        return len(taken) - len(unsent)

    def _serve(self, connection: Connection) -> None:
        self._tell_back("database")
        while not self.stopping:
            self.sweep(connection)
            for _ in connection.notifies(timeout=_SWEEP_SECONDS, stop_after=1):
                pass

    def _ring(self, job: str, kind: str, queue: str) -> bool:
        try:
            app.send_task(EXECUTE, args=[job], queue=queue, retry=False)
        except (BrokerError, OSError):
            self._tell_down("broker")
            return False
        self._tell_back("broker")
        metrics.jobs_relayed.labels(kind).inc()
        self._log.info("job-relayed", job=job, kind=kind)
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
    """Run a relay until SIGTERM or SIGINT."""
    settings = Settings.from_environment()
    log = Log("relay", level=settings.log_level)
    relay = Relay(settings, log)

    def stop(number: int, frame: object) -> None:
        relay.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    log.info("started", revision=settings.revision)
    relay.run()
    log.info("stopped")


if __name__ == "__main__":
    main()
