"""Celery: which queues exist, and how a message is sent and acknowledged; patches for kombu's Redis transport."""

import socket
from typing import Any

from celery import Celery
from kombu.entity import Queue
from kombu.exceptions import OperationalError as BrokerError
from kombu.transport import redis
from redis.exceptions import ConnectionError, TimeoutError

from shared.errors import StoreUnavailable
from shared.jobs.contract import JOB_KINDS, QUEUES
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log

# Patches for kombu's Redis transport: a worker must survive the loss of its broker, and any message in it.


_log = Log("worker")
# The errors that reading content raises. kombu counts some of it as a lost connection, so it comes first.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class ReconnectingQoS(redis.QoS):
    """Acknowledges messages; if the broker is out of reach, the connection is closed and the message is not forgotten.

    kombu only logs an acknowledgement that failed, unless it was a BrokenPipeError. The message then stays reserved;
    with prefetch 1 the worker accepts no other message, and since it no longer reads from the socket it never notices
    that the connection is dead (celery #10302 and others). A BrokenPipeError makes the worker reconnect.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge; raise BrokenPipeError if the broker is unavailable."""
        try:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]
        except (ConnectionError, TimeoutError) as error:
            raise BrokenPipeError(str(error)) from error


REASONS = ("no-message", "no-task", "unknown-task", "invalid-task", "unreadable")
"""Why a message is refused."""


def refused(reason: str, error: BaseException | None, bytes_read: int) -> None:
    """Count and log a refused message. Its body is never logged: any client of the broker could have written it."""
    metrics.messages_refused.labels(reason).inc()
    name = type(error).__name__ if error is not None else None
    _log.warning("message-refused", reason=reason, error=name, bytes=bytes_read)


class ReadingChannel(redis.Channel):
    """Drops what is in a queue and is not a message in kombu's format; the worker would end on it."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except UNREADABLE as error:
            refused("no-message", error, 0)
            return True


def patch_kombu() -> None:
    """Have all Redis channels of this process use these classes. Calling it again changes nothing."""
    redis.Channel.QoS = ReconnectingQoS
    redis.Transport.Channel = ReadingChannel


# Celery: which queues exist, and how a message is sent and acknowledged. The jobs' rows are the truth.


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
        # Remote control needs queues of its own, which a quorum broker refuses to delete; the rows hold all state.
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

    def waiting(self, queue: str) -> int:
        """Return how many messages of a queue no worker has taken; raise StoreUnavailable if the broker is down."""
        declared = self._app.amqp.queues[queue]
        with self._app.producer_or_acquire() as producer:
            connection = producer.connection
            try:
                # Declared as for sending, and not passively: RabbitMQ closes a channel that asks for what is missing.
                found = connection.default_channel.queue_declare(
                    queue=queue, durable=True, auto_delete=False, arguments=declared.queue_arguments
                )
            except (BrokerError, OSError, *connection.connection_errors, *connection.channel_errors) as error:
                raise StoreUnavailable("broker") from error
        return int(found.message_count)


def _queue(name: str, *, on_rabbitmq: bool) -> Queue:
    # Quorum queues survive the loss of a node; classic ones would lose the messages stored on it.
    return Queue(name, queue_arguments={"x-queue-type": "quorum"} if on_rabbitmq else None)  # type: ignore[no-untyped-call]


def _transport(url: str, *, on_rabbitmq: bool) -> dict[str, Any]:
    if on_rabbitmq:
        return _RABBITMQ
    return _REDIS if url.startswith(("redis", "rediss")) else {}
