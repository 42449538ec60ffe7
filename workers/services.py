"""The composition root of the tier: builds the services of one process from its settings."""

from shared.config import Settings
from shared.objects.open import open_object_store
from shared.telemetry.log import Log
from shared.telemetry.spans import Spans
from workers.app import CeleryMessages, celery_app
from workers.context import Services


def build_services(settings: Settings, part: str) -> Services:
    """Build what a process shares among its jobs. Nothing is connected yet; call it after the process has forked.

    `part` names the process in its log lines: `worker` or `dispatcher`.
    """
    return Services(
        settings=settings,
        log=Log(part, level=settings.log_level),
        spans=Spans(settings, part),
        objects=open_object_store(settings),
        messages=CeleryMessages(celery_app(settings)),
    )
