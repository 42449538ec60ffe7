"""A job that one worker holds: claimed, renewed, finished; the attempt number fences every write."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.jobs.job import ClaimedJob

SQL = load_queries(__file__, "leases.sql")
_POLL_SECONDS = 0.1
_PROGRESS_SECONDS = 0.4


class LeaseLost(ItemIndexError):
    """The job is no longer ours: its lease expired, or it was cancelled. Stop, and write nothing."""


class JobTimeout(ItemIndexError):
    """The job took longer than its kind may."""


@dataclass
class LeaseProgress:
    """How far a job is; each renewal of the lease writes it into the row."""

    fraction: float = 0.0
    stage: str = "started"
    rows_done: int = 0
    rows_total: int | None = None

    def report(self, stage: str, rows_done: int = 0, rows_total: int | None = None) -> None:
        """Set the stage, and how many of how many rows are done."""
        self.stage, self.rows_done, self.rows_total = stage, rows_done, rows_total
        if rows_total:
            self.fraction = min(0.99, rows_done / rows_total)

    def snapshot(self) -> tuple[float, str, int, int | None]:
        return (self.fraction, self.stage, self.rows_done, self.rows_total)


@dataclass
class Lease:
    """Holds a claimed job for as long as the block runs. A lost lease sets `lost`; `check` raises LeaseLost.

    However its renewing ends, the job notices: what keeps it from renewing until the lease ends is `failure`.

    `stop` is called from another thread when the lease is lost or the time is up: it cancels the running statement,
    because a long statement would not check `lost` before its end.
    """

    url: str
    job_id: str
    attempt: int
    ttl_seconds: int
    seconds_max: float = float("inf")
    stop: Callable[[], None] = lambda: None
    progress: LeaseProgress = field(default_factory=LeaseProgress)

    def __post_init__(self) -> None:
        self.lost = threading.Event()
        self.late = threading.Event()
        self.failure: Exception | None = None
        self._over = threading.Event()
        self._began = self._renewed_at = time.monotonic()
        self._written = self.progress.snapshot()
        self._thread = threading.Thread(target=self._renew_until_over, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def check(self) -> None:
        """Raise LeaseLost if the job is no longer ours, JobTimeout if its time is up."""
        if self.lost.is_set():
            raise LeaseLost(self.job_id) from self.failure
        if self.late.is_set():
            raise JobTimeout(self.job_id)

    @contextlib.contextmanager
    def replace_stop(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call this `stop` instead while the block runs: the work is on another server for that long."""
        usual, self.stop = self.stop, stop
        try:
            self.check()  # a loss before this line has called the usual `stop`
            yield
        finally:
            self.stop = usual

    def _renew_until_over(self) -> None:
        # Most reports finish before the first poll, and then this thread never needs a connection.
        while not self._over.wait(min(_POLL_SECONDS, self.ttl_seconds / 6)):
            try:
                with connect(self.url, application="lease", autocommit=True) as connection:
                    connection.execute("LISTEN jobs_cancelled")
                    self._renew_while_held(connection)
            except Exception as error:  # noqa: BLE001 - an error that ended this thread would leave the job unwatched
                # PostgreSQL may restart or be read-only; until the lease ends no other worker can claim the job.
                self.failure = error
                if time.monotonic() - self._renewed_at >= self.ttl_seconds:
                    self._end(self.lost)
            if self.lost.is_set() or self.late.is_set():
                return

    def _renew_while_held(self, connection: Connection) -> None:
        """Renew when it is due or progress has changed, and listen for a cancellation in between."""
        due = True
        while not self._over.is_set():
            since = time.monotonic() - self._renewed_at
            changed = self.progress.snapshot() != self._written and since >= _PROGRESS_SECONDS
            # Three renewals per lease: two may fail before another worker may claim the job.
            due = due or changed or since >= self.ttl_seconds / 3
            if due and not self._renew(connection):
                return self._end(self.lost)
            if time.monotonic() - self._began > self.seconds_max:
                return self._end(self.late)
            poll = min(_POLL_SECONDS, self.ttl_seconds / 6)
            due = any(notice.payload == self.job_id for notice in connection.notifies(timeout=poll, stop_after=1))
        return None

    def _end(self, reason: threading.Event) -> None:
        reason.set()
        if not self._over.is_set():
            self.stop()

    def _renew(self, connection: Connection) -> bool:
        progress = self.progress.snapshot()
        values = (self.job_id, self.attempt, self.ttl_seconds, *progress)
        held = connection.execute(SQL.renew, values).fetchone() is not None
        self._renewed_at, self._written, self.failure = time.monotonic(), progress, None
        return held


def cancel_statement(connection: Connection) -> None:
    """Cancel the statement that a connection runs, from another thread; nothing happens if none runs any more."""
    with contextlib.suppress(psycopg.Error):
        connection.cancel_safe(timeout=2)


def claim(connection: Connection, job_id: str, ttl_seconds: int) -> ClaimedJob | None:
    """Claim a queued job for this worker, or return None if it is not queued. Safe to call twice."""
    row = connection.execute(SQL.claim, (job_id, ttl_seconds)).fetchone()
    return ClaimedJob(*row) if row is not None else None


def succeed(connection: Connection, job: ClaimedJob, result: dict[str, object]) -> bool:
    """Record the result of a job without stored bytes; False, and nothing written, if it is no longer ours."""
    return connection.execute(SQL.succeed, (job.id, job.attempt, Jsonb(result))).fetchone() is not None


def fail(connection: Connection, job: ClaimedJob, problem: dict[str, object], *, final: bool = False) -> str | None:
    """Requeue the job, or fail it after its last attempt; return its new state, None if it is no longer ours."""
    row = connection.execute(SQL.fail, (job.id, job.attempt, Jsonb(problem), final)).fetchone()
    return str(row[0]) if row else None


def retry_later(connection: Connection, job: ClaimedJob, problem: dict[str, object]) -> str | None:
    """Requeue the job without counting the attempt; None if it is no longer ours, or has been retried for an hour."""
    row = connection.execute(SQL.retry_later, (job.id, job.attempt, Jsonb(problem))).fetchone()
    return str(row[0]) if row else None
