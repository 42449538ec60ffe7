"""The composition root of the tier: the services that all jobs of a process share, built once from its settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from shared.db.connect import Connection, connect
from shared.objects.directory import ResultStore
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from shared.telemetry.spans import Spans
from workers.jobs.app import CeleryMessages, celery_app


class JobMessages(Protocol):
    """Sends a message that names a job. A message is a hint: the job's row is the truth."""

    def send(self, task: str, job_id: str, queue: str) -> None:
        """Send one message; raise StoreUnavailable if the broker does not take it."""

    def count_waiting(self, queue: str) -> int:
        """Return how many messages of a queue no worker has taken; raise StoreUnavailable if the broker is down."""
        ...


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The numbers of rows at which exports and releases are split."""

    export_parts: Mapping[str, int] = field(
        default_factory=lambda: {"observations": 1_500_000, "items": 200_000, "impacts": 500_000}
    )
    """Rows of one part of an export, by dataset: a part is repeated when its worker dies. Others are one part."""
    export_shared: int = 100_000
    """Rows of an export below which a second worker gains nothing."""
    release_slice: int = 2_097_152
    """Observations of a month that are held at once, twice: one slice is read while the previous one is written."""
    release_observations: int = 1_048_576
    release_table: int = 262_144
    """Rows of a file of observations, and of the other datasets, whose rows are wide: names, attributes. About so many
    at most, and at least half as many if the dataset has them."""


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """The services that a process of this tier builds once. All of them may be used by one job after the other."""

    settings: Settings
    log: Log
    spans: Spans
    objects: ResultStore
    messages: JobMessages
    split_rows: SplitRows = SplitRows()

    def connect(self, application: str, *, autocommit: bool = False) -> Connection:
        """Open a connection as the workers' role; raise psycopg.OperationalError if PostgreSQL is unavailable."""
        return connect(self.settings.worker_database_url, application=application, autocommit=autocommit)


def build_services(settings: Settings, part: str) -> WorkerServices:
    """Build what a process shares among its jobs. Nothing is connected yet; call it after the process has forked.

    `part` names the process in its log lines: `worker` or `dispatcher`.
    """
    return WorkerServices(
        settings=settings,
        log=Log(part, level=settings.log_level),
        spans=Spans(settings, part),
        objects=open_object_store(settings),
        messages=CeleryMessages(celery_app(settings)),
    )
