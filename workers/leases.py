"""A job in the hands of one worker: claimed, beaten, finished; every write fenced by the attempt number."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import beside
from shared.errors import ItemIndexError

SQL = beside(__file__, "leases.sql")
_CLAIMED = ("id", "kind", "parameters", "data_version", "attempt", "format", "organization", "traceparent")
_LOOK_SECONDS = 0.1
_TELL_SECONDS = 0.4


class LeaseLost(ItemIndexError):
    """The job is no longer ours: its lease ran out, or it was cancelled. Stop, and write nothing."""


class JobTimeout(ItemIndexError):
    """The job took longer than its kind may."""


@dataclass
class Progress:
    """How far a job is; the heart beats it into the row."""

    fraction: float = 0.0
    stage: str = "started"
    rows_done: int = 0
    rows_total: int | None = None

    def tell(self, stage: str, rows_done: int = 0, rows_total: int | None = None) -> None:
        """Say what is being done and how many rows of how many are through it."""
        self.stage, self.rows_done, self.rows_total = stage, rows_done, rows_total
        if rows_total:
            self.fraction = min(0.99, rows_done / rows_total)

    def now(self) -> tuple[float, str, int, int | None]:
        """Return what a beat writes."""
        return (self.fraction, self.stage, self.rows_done, self.rows_total)


@dataclass
class Lease:
    """Holds a claimed job for as long as the block runs. A lost lease sets `lost`; `check` raises LeaseLost.

    `stop` is called, from another thread, when the job was lost or its time is up: it breaks off what runs, because a
    long statement would not look at `lost` before its end.
    """

    url: str
    job_id: str
    attempt: int
    ttl_seconds: int
    seconds_max: float = float("inf")
    stop: Callable[[], None] = lambda: None
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        self.lost = threading.Event()
        self.late = threading.Event()
        self._over = threading.Event()
        self._began = self._beaten = time.monotonic()
        self._told = self.progress.now()
        self._heart = threading.Thread(target=self._beat_until_over, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._heart.join()

    def check(self) -> None:
        """Raise LeaseLost if the job is no longer ours, TimeIsUp if it may not go on."""
        if self.lost.is_set():
            raise LeaseLost(self.job_id)
        if self.late.is_set():
            raise JobTimeout(self.job_id)

    @contextlib.contextmanager
    def stopped_by(self, stop: Callable[[], None]) -> Iterator[None]:
        """Have something else broken off while the block runs: the work is on another server for that long."""
        usual, self.stop = self.stop, stop
        try:
            self.check()  # what was lost before this has broken off the usual one
            yield
        finally:
            self.stop = usual

    def _beat_until_over(self) -> None:
        # Most reports are done before the first look, and then this thread never needs a connection.
        while not self._over.wait(min(_LOOK_SECONDS, self.ttl_seconds / 6)):
            try:
                with connect(self.url, application="lease", autocommit=True) as connection:
                    connection.execute("LISTEN jobs_cancelled")
                    self._keep(connection)
            except psycopg.Error as error:
                if not unavailable(error):
                    raise
                # PostgreSQL may restart or be read-only; until the lease ends no other worker can claim the job.
                if time.monotonic() - self._beaten >= self.ttl_seconds:
                    self._end(self.lost)
            if self.lost.is_set() or self.late.is_set():
                return

    def _keep(self, connection: Connection) -> None:
        """Beat when it is time or there is something to tell, and listen for a cancellation in between."""
        due = True
        while not self._over.is_set():
            quiet = time.monotonic() - self._beaten
            news = self.progress.now() != self._told and quiet >= _TELL_SECONDS
            # Three beats a lease: two may fail before the job is anybody's.
            due = due or news or quiet >= self.ttl_seconds / 3
            if due and not self._beat(connection):
                return self._end(self.lost)
            if time.monotonic() - self._began > self.seconds_max:
                return self._end(self.late)
            look = min(_LOOK_SECONDS, self.ttl_seconds / 6)
            due = any(notice.payload == self.job_id for notice in connection.notifies(timeout=look, stop_after=1))
        return None

    def _end(self, why: threading.Event) -> None:
        why.set()
        if not self._over.is_set():
            self.stop()

    def _beat(self, connection: Connection) -> bool:
        told = self.progress.now()
        beat = (self.job_id, self.attempt, self.ttl_seconds, *told)
        return self._note(connection.execute(SQL.beat, beat).fetchone() is not None, told)

    def _note(self, kept: bool, told: tuple[float, str, int, int | None] | None = None) -> bool:
        self._beaten, self._told = time.monotonic(), told or self.progress.now()
        return kept


def break_off(connection: Connection) -> None:
    """Cancel what runs on a connection, from another thread; nothing happens where nothing runs any more."""
    with contextlib.suppress(psycopg.Error):
        connection.cancel_safe(timeout=2)


def claim(connection: Connection, job_id: str, ttl_seconds: int) -> dict[str, Any] | None:
    """Take the job for this worker, or return None if it is not there to be taken. Safe to call twice."""
    row = connection.execute(SQL.claim, (job_id, ttl_seconds)).fetchone()
    if row is None:
        return None
    return dict(zip(_CLAIMED, row, strict=True))


def succeed(connection: Connection, job_id: str, attempt: int, result: dict[str, Any]) -> bool:
    """Note what a job without a stored result came to; False, and nothing written, when it is no longer ours."""
    return connection.execute(SQL.succeed, (job_id, attempt, Jsonb(result))).fetchone() is not None


def fail(
    connection: Connection, job_id: str, attempt: int, problem: dict[str, Any], *, final: bool = False
) -> str | None:
    """Give the job back, or up after its last attempt; return its new state, None when it is no longer ours."""
    row = connection.execute(SQL.fail, (job_id, attempt, Jsonb(problem), final)).fetchone()
    return str(row[0]) if row else None


def postpone(connection: Connection, job_id: str, attempt: int, problem: dict[str, Any]) -> str | None:
    """Give the job back without counting the attempt; None when it is no longer ours, or was put off for too long."""
    row = connection.execute(SQL.postpone, (job_id, attempt, Jsonb(problem))).fetchone()
    return str(row[0]) if row else None
