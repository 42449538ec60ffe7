"""Celery: which queues exist, and how a message is sent and acknowledged. The jobs' rows are the truth."""

import socket
from collections.abc import Mapping

from celery import Celery
from kombu.entity import Queue
from kombu.exceptions import OperationalError as BrokerError

from shared.errors import StoreUnavailable
from shared.jobs.contract import JOB_KINDS, QUEUES
from shared.settings.settings import Settings
from workers.jobs.kombu_redis import patch_kombu

_SECONDS_MAX = max(kind.seconds_max for kind in JOB_KINDS.values())
# A message that was never acknowledged is delivered again after this; it must exceed any task's run time, or the task
# would run twice.
_VISIBILITY_SECONDS = _SECONDS_MAX + 300
_REDIS = {
    "visibility_timeout": _VISIBILITY_SECONDS,
    "socket_timeout": 30,
    "socket_keepalive": True,
    # A broker that stopped answering is given up after some 10 s instead of a quarter of an hour.
    "socket_keepalive_options": {
        socket.TCP_KEEPIDLE: 5,
        socket.TCP_KEEPINTVL: 2,
        socket.TCP_KEEPCNT: 3,
        socket.TCP_USER_TIMEOUT: 10_000,
    },
    "health_check_interval": 25,
}
# With publisher confirms, a message that was sent without an error is on the disks of most nodes.
_RABBITMQ = {"confirm_publish": True}


def celery_app(settings: Settings) -> Celery:
    """Return Celery's application for this broker, without tasks. It connects when it first sends or consumes."""
    patch_kombu()
    on_rabbitmq = settings.broker_url.startswith(("amqp", "amqps"))
    app = Celery("itemindex", broker=settings.broker_url, set_as_current=False)
    app.conf.update(
        task_queues=[_queue(name, on_rabbitmq=on_rabbitmq) for name in QUEUES],
        task_default_queue="maintenance",
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_acks_late=True,
        # The message of a worker that died is dropped: the lease expires, and the dispatcher sends another message.
        task_reject_on_worker_lost=False,
        task_time_limit=_SECONDS_MAX,
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        worker_soft_shutdown_timeout=10,
        # Remote control declares temporary queues, which a quorum broker refuses to delete; the rows hold all state.
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=_transport(settings.broker_url, on_rabbitmq=on_rabbitmq),
    )
    return app


class CeleryMessages:
    """Sends the messages of jobs through Celery."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def send(self, task: str, job_id: str, queue: str) -> None:
        """Send one message, without a retry; raise StoreUnavailable if the broker does not take it."""
        try:
            self._app.send_task(task, args=[job_id], queue=queue, retry=False)
        except (BrokerError, OSError) as error:
            raise StoreUnavailable("broker") from error

    def count_waiting(self, queue: str) -> int:
        """Return how many messages of a queue no worker has taken; raise StoreUnavailable if the broker is down."""
        declared = self._app.amqp.queues[queue]
        with self._app.producer_or_acquire() as producer:
            connection = producer.connection
            try:
                # Declared as for sending, and not passively: RabbitMQ closes a channel that asks for a missing queue.
                found = connection.default_channel.queue_declare(
                    queue=queue, durable=True, auto_delete=False, arguments=declared.queue_arguments
                )
            except (BrokerError, OSError, *connection.connection_errors, *connection.channel_errors) as error:
                raise StoreUnavailable("broker") from error
        return int(found.message_count)


def _queue(name: str, *, on_rabbitmq: bool) -> Queue:
    # Quorum queues survive the loss of a node; classic ones would lose the messages stored on it.
    return Queue(name, queue_arguments={"x-queue-type": "quorum"} if on_rabbitmq else None)  # type: ignore[no-untyped-call]


def _transport(url: str, *, on_rabbitmq: bool) -> Mapping[str, object]:
    if on_rabbitmq:
        return _RABBITMQ
    return _REDIS if url.startswith(("redis", "rediss")) else {}
