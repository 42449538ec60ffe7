"""A worker in the test's own process: production's services and handlers, and messages that are only recorded."""

from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import replace
from typing import Any

from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.jobs.contract import JOB_KINDS, SEARCH_INDEX
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import DirectoryStore, ResultStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.database import execute
from workers.analytics.reports.publish import Make, ReportHandler
from workers.analytics.reports.replica import Replica
from workers.dispatcher.refunds import Refunds
from workers.dispatcher.retention import delete_unnamed, statements
from workers.handlers import job_handlers
from workers.ingest.feeds.runner import FeedRunner
from workers.jobs.failed_rows import FailedRows
from workers.jobs.job_handler import Handlers, JobContext, RowResultHandler
from workers.jobs.runner import JobRunner
from workers.jobs.services import WorkerServices, build_services


class RecordedMessages:
    """Takes messages as a broker does, and keeps them for the test: task, job and queue of each.

    Its queues are empty: it loses every message, unless it `holds` them until `taken`.
    """

    def __init__(self, *, holds: bool = False) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.held: list[tuple[str, str, str]] = []
        self._holds = holds

    def send(self, task: str, job_id: str, queue: str) -> None:
        self.sent.append((task, job_id, queue))
        if self._holds:
            self.held.append((task, job_id, queue))

    def count_waiting(self, queue: str) -> int:
        return sum(one == queue for _, _, one in self.held)

    @property
    def jobs(self) -> list[str]:
        """The jobs of the messages, in the order in which they were sent."""
        return [job for _, job, _ in self.sent]


def order(settings: Settings, fingerprint: str = "1", attempts: int = 3) -> str:
    """Order a job of the kind search-index, or join the equal one that is under way; return it."""
    values = (SEARCH_INDEX.name, SEARCH_INDEX.queue, None, Jsonb({}), fingerprint, 1, attempts)
    [(job, *_)] = execute(settings, JOBS.join, *values)
    return str(job)


def services_of(settings: Settings, **changed: Any) -> WorkerServices:
    """Return the services of a worker process, some of them `changed`."""
    return replace(build_services(settings, "worker"), **{"messages": RecordedMessages(), **changed})


def settle_refunds(settings: Settings, *, dies: bool = False) -> int:
    """Refund what is due and return for how many orders; a dispatcher that `dies` does not commit what it wrote down."""
    refunds = Refunds(settings, Log("tests"))
    with connect(settings.worker_database_url, application="tests", autocommit=not dies) as connection:
        settled = refunds.settle(connection)
        if dies:
            connection.rollback()
    refunds.close()
    return settled


def sweep(settings: Settings) -> None:
    """Delete what has served its time, as the dispatcher does every ten minutes."""
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        delete_old(connection, settings, DirectoryStore(settings.results_dir))


def delete_old(connection: Connection, settings: Settings, store: ResultStore) -> int:
    """Delete rows and bytes that have served their time; return of how many attempts."""
    log = Log("tests", level="error")
    for statement in statements(settings):
        statement.execute(connection, log)
    return delete_unnamed(connection, store, log, FailedRows("attempt", log))


def worker(settings: Settings, handlers: Handlers | None = None, **changed: Any) -> JobRunner:
    """Return a worker; `handlers` replace those of production, `changed` its services."""
    services = services_of(settings, **changed)
    return JobRunner(services, {**job_handlers(services), **(handlers or {})})


def run(settings: Settings, job: str, handlers: Handlers | None = None, **changed: Any) -> str | None:
    """Claim and run a job in a worker of its own; return the state it reached."""
    return worker(settings, handlers, **changed).run(job)


def indexing(compute: Callable[[JobContext], dict[str, Any]]) -> Handlers:
    """Have jobs of the kind search-index computed by this function."""
    return {SEARCH_INDEX.name: RowResultHandler(compute)}


def serve_due(runner: FeedRunner, settings: Settings) -> None:
    """Have the feeds and uploads that are due served to their end."""
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        runner.begin_due(connection)
    wait(runner._running.values())
    runner._note_ended()


def reporting(settings: Settings, make: Make) -> Handlers:
    """Have every kind of report computed by this function; one replica is remembered by all of them."""
    replica = Replica(settings.replica_database_url, settings.replica_wait_seconds, Log("worker"))
    return {name: ReportHandler(make, replica) for name, kind in JOB_KINDS.items() if kind.queue == "reports"}
