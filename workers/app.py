"""Celery: which queues there are, and how a message is acknowledged. The truth is in the jobs' rows, not here."""

import socket
from typing import Any

from billiard import current_process
from celery import Celery, signals
from kombu.entity import Queue

from shared.config import settings_or_exit
from shared.jobs.contract import KINDS, QUEUES
from shared.telemetry import metrics
from shared.telemetry.http_server import keep_watch
from shared.telemetry.log import adopt_libraries
from workers.broker import mend
from workers.consumer import JobConsumer
from workers.progress import WorkerProgress, beat_until_end, watch
from workers.telemetry import log_of, spans_of

settings = settings_or_exit()
_SECONDS_MAX = max(kind.seconds_max for kind in KINDS.values())
# A message that nobody acknowledged comes back after this; longer than any task may run, or it would run twice.
_VISIBILITY_SECONDS = _SECONDS_MAX + 300
_REDIS = {
    "visibility_timeout": _VISIBILITY_SECONDS,
    "socket_timeout": 30,
    "socket_keepalive": True,
    # A broker that fell silent is left after some 10 s instead of a quarter of an hour.
    "socket_keepalive_options": {
        socket.TCP_KEEPIDLE: 5,
        socket.TCP_KEEPINTVL: 2,
        socket.TCP_KEEPCNT: 3,
        socket.TCP_USER_TIMEOUT: 10_000,
    },
    "health_check_interval": 25,
}
# A publisher that waits for the broker's word knows that the doorbell is on disk of most nodes, not just sent.
_RABBITMQ = {"confirm_publish": True}
_ON_RABBITMQ = settings.broker_url.startswith(("amqp", "amqps"))


def _queue(name: str) -> Queue:
    # Quorum queues survive the loss of a node; classic ones would lose the doorbells on it.
    return Queue(name, queue_arguments={"x-queue-type": "quorum"} if _ON_RABBITMQ else None)  # type: ignore[no-untyped-call]


def _transport() -> dict[str, Any]:
    if _ON_RABBITMQ:
        return _RABBITMQ
    return _REDIS if settings.broker_url.startswith(("redis", "rediss")) else {}


mend()
progress = JobConsumer.progress = WorkerProgress()
app = Celery("itemindex", broker=settings.broker_url, include=["workers.tasks"])
app.conf.update(
    task_queues=[_queue(name) for name in QUEUES],
    task_default_queue="maintenance",
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_acks_late=True,
    # A message whose worker died is dropped: the lease of its row lapses and the dispatcher rings again.
    task_reject_on_worker_lost=False,
    task_time_limit=_SECONDS_MAX,
    worker_prefetch_multiplier=1,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_consumer=JobConsumer,
    worker_hijack_root_logger=False,
    worker_soft_shutdown_timeout=10,
    # Remote control would need queues of its own, which a quorum broker refuses to forget; the rows tell all there is.
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options=_transport(),
)


@signals.setup_logging.connect  # type: ignore[untyped-decorator]
def _log(**given: Any) -> None:
    """Write what Celery logs as JSON lines of ours; LOG_LEVEL decides which. Celery then sets no logging up itself."""
    adopt_libraries(log_of(settings))


def _pool_of(worker: Any) -> list[tuple[int, int]]:
    return [(process.index, process.pid) for process in list(worker.pool._pool._pool) if process.pid is not None]


@signals.worker_ready.connect  # type: ignore[untyped-decorator]
def _tell(sender: Any, **given: Any) -> None:
    """Serve metrics and health, and watch the worker, in the one process that has no jobs to do.

    `sender` is the consumer; it is ready again after each loss of the broker, and is watched once.
    """
    if progress.watched:
        return
    progress.watched = True
    keep_watch(settings, lambda: progress.well)
    watch(progress, lambda: _pool_of(sender.controller), settings.heartbeat_file)


@signals.worker_process_init.connect  # type: ignore[untyped-decorator]
def _begin(**given: Any) -> None:
    beat_until_end(progress, current_process().index)
    metrics.processes.labels("worker", settings.revision).set(1)


@signals.worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def _end(**given: Any) -> None:
    metrics.processes.labels("worker", settings.revision).set(0)
    spans_of(settings).close()
