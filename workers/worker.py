"""A Celery worker: its main process, and the processes of its pool, which run one job each."""

import argparse
import gc
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from billiard import current_process
from celery import signals
from celery.utils.nodenames import default_nodename, host_format

from shared.config import Settings, settings_or_exit
from shared.jobs.contract import DELIVER, EXECUTE, HELP_EXPORT
from shared.processes import without_pandas
from shared.telemetry import metrics
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log, adopt_libraries
from workers.app import celery_app
from workers.consumer import JobConsumer
from workers.context import Services
from workers.handlers import job_handlers
from workers.job_handler import Handlers
from workers.progress import WorkerProgress, beat_until_end, watch
from workers.services import build_services
from workers.tasks import JobRunner

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
        serve_metrics(self._settings, lambda: self._progress.healthy)
        watch(self._progress, lambda: _pool_of(sender.controller), self._settings.heartbeat_file)

    def _begin_process(self, **given: Any) -> None:
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
