"""Periodic maintenance, in a thread of its own, so that none of its faults delays a dispatch."""

import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import psycopg

from shared.db.connect import Connection
from shared.errors import StoreUnavailable
from shared.objects.directory import ResultStore
from shared.telemetry import metrics
from workers.bulk.releases import expire, order_due, refresh_catalogue
from workers.dispatcher import gauges, retention
from workers.dispatcher.missing_results import MissingResults
from workers.dispatcher.steps import Steps
from workers.jobs.failed_rows import FailedRows
from workers.jobs.outages import is_outage
from workers.jobs.services import WorkerServices

_CHECK_SECONDS = 30.0
_EXPIRY_SECONDS = 600.0
# The first round begins so long after the first dispatch.
_PAUSE_SECONDS = 2.0
# No object has this key: a store that answers says that it is not there.
_NO_KEY = "maintenance/nothing"


class Task(NamedTuple):
    """An act that is repeated every `seconds`."""

    name: str
    seconds: float
    act: Callable[[Connection], object]


def answers(objects: ResultStore) -> bool:
    """Return whether an object store answers: then the error of one object is no outage."""
    with contextlib.suppress(StoreUnavailable):
        objects.size(_NO_KEY)
        return True
    return False


class Maintenance:
    """Runs tasks, each on its own: one that fails is counted and logged, and is due again at its usual time."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services
        settings, objects, log = services.settings, services.objects, services.log

        def outage(error: Exception) -> bool:
            return is_outage(error) and not (isinstance(error, StoreUnavailable) and answers(objects))

        missing = MissingResults(
            objects, log, settings.result_missing_seconds, FailedRows("missing-result", log, outage)
        )
        attempts, files = FailedRows("attempt", log, outage), FailedRows("release-file", log, outage)
        self.tasks = (
            Task("order-releases", _CHECK_SECONDS, lambda connection: order_due(settings, connection)),
            Task("measure-feeds", _CHECK_SECONDS, gauges.measure_feeds),
            Task("measure-backups", _CHECK_SECONDS, gauges.measure_backups),
            Task("confirm-missing", _CHECK_SECONDS, missing.confirm),
            *(
                Task(statement.name, _EXPIRY_SECONDS, partial(statement.execute, log=log))
                for statement in retention.statements(settings)
            ),
            Task("measure-loads", _EXPIRY_SECONDS, gauges.measure_loads),
            # Each time lists the whole store, a request for 1,000 keys.
            Task("sweep-results", _EXPIRY_SECONDS, lambda c: retention.delete_unnamed(c, objects, log, attempts)),
            Task("sweep-releases", _EXPIRY_SECONDS, lambda c: expire(c, objects, log, files)),
            Task("catalogue", _EXPIRY_SECONDS, lambda c: refresh_catalogue(c, objects, settings.base_url)),
        )
        self._steps = Steps(log, ("maintenance", *(task.name for task in self.tasks)))
        self._due: dict[str, float] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="maintenance", daemon=True)

    def start(self) -> None:
        """Run in a thread until `stop`."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End after the task that is under way, and wait so long for it; every task may be broken off."""
        self._stopping.set()
        self._thread.join(seconds)

    def run_due(self, connection: Connection, now: float) -> None:
        """Run the tasks that are due at `now`, by a monotonic clock. Raises the outage of PostgreSQL."""
        for task in self.tasks:
            if self._stopping.is_set():
                return
            if now >= self._due.get(task.name, now):
                self._due[task.name] = now + task.seconds
                self._run_task(task, connection)
        metrics.maintenance_seconds.set_to_current_time()

    def _run_task(self, task: Task, connection: Connection) -> None:
        self._steps.run(task.name, lambda: task.act(connection))

    def _run(self) -> None:
        while not self._stopping.is_set():
            # An outage of PostgreSQL is counted and logged where jobs are dispatched, which meets it too.
            with contextlib.suppress(psycopg.Error):
                self._steps.run("maintenance", self._serve)
            self._stopping.wait(_PAUSE_SECONDS)

    def _serve(self) -> None:
        with self._services.connect("maintenance", autocommit=True) as connection:
            while not self._stopping.wait(_PAUSE_SECONDS):
                self.run_due(connection, time.monotonic())
