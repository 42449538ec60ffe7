"""A job in the hands of one worker: claimed, beaten, finished; every write fenced by the attempt number."""

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.errors import ItemIndexError

SQL = beside(__file__, "lease.sql")


class LeaseLost(ItemIndexError):
    """The job is no longer ours: its lease ran out, or it was cancelled. Stop, and write nothing."""


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


@dataclass
class Lease:
    """Holds a claimed job for as long as the block runs. A lost lease sets `lost`; `check` raises LeaseLost."""

    url: str
    job_id: str
    attempt: int
    ttl_seconds: int
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        self.lost = threading.Event()
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat_until_over, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._heart.join()

    def check(self) -> None:
        """Raise LeaseLost if the job is no longer ours."""
        if self.lost.is_set():
            raise LeaseLost(self.job_id)

    def _beat_until_over(self) -> None:
        # Three beats a lease: two may fail (a restart of PostgreSQL) before the job is anybody's.
        last = time.monotonic()
        while not self._over.wait(self.ttl_seconds / 3):
            try:
                with connect(self.url, application="lease", autocommit=True) as connection:
                    kept = self._beat(connection)
            except psycopg.OperationalError:
                kept = time.monotonic() - last < self.ttl_seconds
            else:
                last = time.monotonic()
            if not kept:
                self.lost.set()
                return

    def _beat(self, connection: Connection) -> bool:
        p = self.progress
        beat = (self.job_id, self.attempt, self.ttl_seconds, p.fraction, p.stage, p.rows_done, p.rows_total)
        return connection.execute(SQL.beat.encode(), beat).fetchone() is not None


def claim(connection: Connection, job_id: str, ttl_seconds: int) -> dict[str, Any] | None:
    """Take the job for this worker, or return None if it is not there to be taken. Safe to call twice."""
    row = connection.execute(SQL.claim.encode(), (job_id, ttl_seconds)).fetchone()
    if row is None:
        return None
    return dict(zip(("id", "kind", "parameters", "data_version", "attempt"), row, strict=True))


def succeed(connection: Connection, job_id: str, attempt: int, result: dict[str, Any]) -> bool:
    """Publish the result; False when the job is no longer ours, and then nothing was written."""
    return connection.execute(SQL.succeed.encode(), (job_id, attempt, Jsonb(result))).fetchone() is not None


def fail(connection: Connection, job_id: str, attempt: int, problem: dict[str, Any]) -> str | None:
    """Give the job back, or up after its last attempt; return its new state, None when it is no longer ours."""
    row = connection.execute(SQL.fail.encode(), (job_id, attempt, Jsonb(problem))).fetchone()
    return str(row[0]) if row else None
