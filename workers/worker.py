"""A worker: a Celery process whose pool processes take jobs under leases and run them."""

import argparse
import gc
import sys
from collections.abc import Callable
from functools import partial

from billiard import current_process
from celery import signals
from celery.utils.nodenames import default_nodename, host_format
from celery.worker import WorkController
from celery.worker.consumer import Consumer
from threadpoolctl import threadpool_limits

from shared.jobs.contract import DELIVER, DELIVER_QUEUE, EXECUTE, EXECUTE_PART, JOB_KINDS, QUEUES, RELEASE
from shared.processes import imports_for_good, without_pandas
from shared.settings.settings import Settings, settings_or_exit
from shared.telemetry import metrics
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log, adopt_libraries
from workers.events.webhooks import deliver
from workers.jobs.app import celery_app
from workers.jobs.consumer import JobConsumer
from workers.jobs.job_handler import Handlers
from workers.jobs.kombu_redis import REASONS
from workers.jobs.progress import WorkerProgress, beat_until_end, watch
from workers.jobs.runner import JobRunner
from workers.jobs.services import WorkerServices, build_services
from workers.jobs.startup import settings_at_start

# Longer than the pauses of a busy queue; a worker that has nothing to do gives its place at the server back.
_IDLE_CONNECTION_SECONDS = 300.0
_DELIVERY_SECONDS = 60.0
_QUIET = {"quiet": True, "without_gossip": True, "without_mingle": True, "without_heartbeat": True}


class Worker:
    """A worker's main process and, after the fork, each process of its pool: only the latter build services."""

    def __init__(self, settings: Settings, handlers: Callable[[WorkerServices], Handlers] | None) -> None:
        """Without handlers it runs no jobs, and refuses messages that name one: the job's row stays queued."""
        self._settings = settings
        self._handlers = handlers
        self._progress = WorkerProgress()
        self._services: WorkerServices | None = None
        self._runner: JobRunner | None = None
        self.celery = celery_app(settings)
        self.celery.conf.worker_consumer = partial(JobConsumer, progress=self._progress)
        if handlers is not None:
            self.celery.task(name=EXECUTE, shared=False)(self._execute)
            self.celery.task(name=EXECUTE_PART, shared=False)(self._execute)
        self.celery.task(name=DELIVER, shared=False)(self._deliver)
        metrics.begin_at_zero(metrics.messages_refused, REASONS)
        metrics.begin_at_zero(metrics.jobs_lost, JOB_KINDS)
        metrics.begin_at_zero(metrics.jobs_finished, JOB_KINDS, ["failed"])
        metrics.begin_at_zero(metrics.rows_set_aside, ["webhook"])

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

    def set_up_logging(self, **given: object) -> None:
        """Write Celery's log records as JSON lines; LOG_LEVEL decides which. Celery then configures no logging."""
        adopt_libraries(Log("worker", level=self._settings.log_level))

    def _execute(self, job_id: str) -> None:
        assert self._runner is not None
        self._runner.execute(job_id)

    def _deliver(self, _: str) -> None:
        """Send due events to webhooks; the dispatcher sends another message while events are left."""
        assert self._runner is not None
        self._runner.unless_unavailable(lambda _: deliver(self._settings, _DELIVERY_SECONDS), "")

    def _watch(self, sender: Consumer, **given: object) -> None:
        """Serve metrics and health, and watch the pool, in the main process, which runs no jobs.

        `sender` is the consumer; it is ready again after each loss of the broker, and is watched once.
        """
        if self._progress.watched:
            return
        self._progress.watched = True
        settings_or_exit(lambda: serve_metrics(self._settings, lambda: self._progress.healthy))
        watch(self._progress, lambda: _pool_of(sender.controller), self._settings.heartbeat_file)
        Log("worker", level=self._settings.log_level).info("started", revision=self._settings.revision)

    def _begin_process(self, **given: object) -> None:
        # There is a process for each core: threads of numpy's would wait for those of the other processes, and a price
        # index of 900 days then takes three times as long.
        threadpool_limits(limits=1)
        self._services = build_services(self._settings, "worker")
        handlers = self._handlers(self._services) if self._handlers else {}
        self._runner = JobRunner(self._services, handlers, _IDLE_CONNECTION_SECONDS)
        beat_until_end(self._progress, current_process().index)
        metrics.processes.labels("worker", self._settings.revision).set(1)

    def _end_process(self, **given: object) -> None:
        metrics.processes.labels("worker", self._settings.revision).set(0)
        if self._runner is not None:
            self._runner.close()
        if self._services is not None:
            self._services.spans.close()


def _pool_of(worker: WorkController) -> list[tuple[int, int]]:
    return [(process.index, process.pid) for process in list(worker.pool._pool._pool) if process.pid is not None]


def handlers_of(queues: str | None) -> Callable[[WorkerServices], Handlers] | None:
    """Import the handlers of these queues' jobs; None for webhooks alone, whose worker then takes half the memory."""
    if queues == DELIVER_QUEUE:
        return None
    with imports_for_good():
        from workers.handlers import job_handlers
    return job_handlers


def main(handlers: Callable[[WorkerServices], Handlers] | None = None) -> None:
    """Run a worker with the settings of the environment and the arguments of the command line.

    `handlers` default to those of its queues.
    """
    parser = argparse.ArgumentParser(prog="python -m workers", description=__doc__)
    parser.add_argument("-Q", dest="queues", help="queues, separated by commas; all unless given")
    parser.add_argument("-c", dest="processes", type=int, help="processes of the pool; one for each core unless given")
    parser.add_argument("-n", dest="name", help="the worker's name; %%h stands for the host")
    given = parser.parse_args()
    handlers = handlers or handlers_of(given.queues)
    if handlers is not None:
        without_pandas()
    gc.freeze()  # imported modules stay: no collection, in no process of the pool, needs to look at them
    sys.exit(Worker(_settings_of(given.queues), handlers).run(given.queues, given.processes, given.name))


def _settings_of(queues: str | None) -> Settings:
    """Return the settings; end the process with a line for each fault, also of the key that signs releases."""
    served = QUEUES if queues is None else queues.split(",")
    signs = RELEASE.queue in served
    settings = settings_at_start(
        ["signing_secret"] if DELIVER_QUEUE in served else [], ["release_signing_key_file"] if signs else []
    )
    key_file = settings.release_signing_key_file
    if signs and key_file is not None:
        from shared.bulk.signing import SigningKey  # only where it is needed: it loads a library

        settings_or_exit(lambda: SigningKey.read(key_file))
    return settings
