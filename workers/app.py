"""Celery: which queues there are, and how a message is acknowledged. The truth is in the jobs' rows, not here."""

from celery import Celery
from kombu.entity import Queue

from shared.config import Settings
from shared.jobs.contract import KINDS, QUEUES

settings = Settings.from_environment()
_SECONDS_MAX = max(kind.seconds_max for kind in KINDS.values())
# A message that nobody acknowledged comes back after this; longer than any task may run, or it would run twice.
_VISIBILITY_SECONDS = _SECONDS_MAX + 300
_TRANSPORT = {
    "visibility_timeout": _VISIBILITY_SECONDS,
    "socket_timeout": 30,
    "socket_keepalive": True,
    "health_check_interval": 25,
}

app = Celery("itemindex", broker=settings.broker_url, include=["workers.tasks"])
app.conf.update(
    task_queues=[Queue(name) for name in sorted(QUEUES)],  # type: ignore[no-untyped-call]
    task_default_queue="maintenance",
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_acks_late=True,
    # A message whose worker died is dropped: the lease of its row lapses and the relay rings again.
    task_reject_on_worker_lost=False,
    task_time_limit=_SECONDS_MAX,
    worker_prefetch_multiplier=1,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_hijack_root_logger=False,
    worker_soft_shutdown_timeout=10,
    broker_connection_retry_on_startup=True,
    broker_transport_options=_TRANSPORT if settings.broker_url.startswith(("redis", "rediss")) else {},
)
