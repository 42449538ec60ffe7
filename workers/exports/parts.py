"""The rows of an export's parts: planned, claimed, renewed, finished; the slot fences every write."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from psycopg.types.json import Jsonb

from shared.config import Settings
from shared.db.connect import Connection
from shared.db.queries import beside
from shared.exports.manifest import File
from shared.exports.request import Request
from shared.jobs.contract import EXPORT
from workers.context import Job
from workers.datasets.part import Part
from workers.job_handler import Outcome
from workers.leases import Lease, LeaseLost

SQL = beside(__file__, "parts.sql")


class ExportProgress(NamedTuple):
    """How many parts of an export are in which state, how many rows are written, and the first failure."""

    parts: int
    done: int
    running: int
    queued: int
    rows: int
    failure: dict[str, Any] | None

    @property
    def all_done(self) -> bool:
        """Whether every part is done."""
        return self.done == self.parts


@dataclass
class PartLease(Lease):
    """Holds a part as a lease holds a job; a renewal writes its progress into the part's row."""

    number: int = 0
    slot: int = 0

    def _renew(self, connection: Connection) -> bool:
        values = (self.job_id, self.number, self.slot, self.ttl_seconds, self.progress.rows_done)
        return self._note(connection.execute(SQL.renew, values).fetchone() is not None)


def lease_of(settings: Settings, part: Part) -> PartLease:
    """Return the lease of a part, not yet started."""
    return PartLease(
        settings.worker_database_url,
        part.job_id,
        part.attempt,
        settings.lease_ttl_seconds,
        EXPORT.seconds_max,
        number=part.number,
        slot=part.slot,
    )


def plan(connection: Connection, job: Job, version: int, source: str, ranges: list[tuple[str, int, int]]) -> None:
    """Insert the parts, or keep those that another worker has planned of the same version. Raises LeaseLost."""
    job_id = job.id
    with connection.transaction():
        if connection.execute(SQL.lock_job, (job_id, job.attempt)).fetchone() is None:
            raise LeaseLost(job_id)
        if connection.execute(SQL.keep_plan, (job_id, version, source)).fetchone() is not None:
            return
        connection.execute(SQL.drop_plan, (job_id,))
        columns = ([one[n] for one in ranges] for n in range(3))
        connection.execute(SQL.plan, (job_id, version, source, *columns))


def claim(connection: Connection, job_id: str, ttl_seconds: int, attempts_max: int) -> Part | None:
    """Claim the next part for this worker; None if none is queued."""
    row = connection.execute(SQL.claim, (job_id, ttl_seconds, attempts_max)).fetchone()
    return None if row is None else Part(job_id, Request.read(row[0]), *row[1:])


def finish(connection: Connection, part: Part, file: File) -> bool:
    """Record the file of a part; False if the part is no longer ours, and then no manifest names the file."""
    values = (part.job_id, part.number, part.slot, file.rows, Jsonb(msgspec.to_builtins(file)))
    return connection.execute(SQL.finish, values).fetchone() is not None


def fail(connection: Connection, part: Part, problem: dict[str, Any], attempts_max: int) -> None:
    """Requeue a part, or fail it after its last attempt."""
    values = (part.job_id, part.number, part.slot, attempts_max, Jsonb(problem))
    connection.execute(SQL.fail, values)


def release(connection: Connection, part: Part) -> None:
    """Requeue a part without counting the attempt."""
    connection.execute(SQL.release, (part.job_id, part.number, part.slot))


def progress(connection: Connection, job_id: str, attempts_max: int) -> ExportProgress:
    """Return how far the parts are. A part that has lost too many workers fails here."""
    connection.execute(SQL.fail_exhausted, (job_id, attempts_max))
    row = connection.execute(SQL.progress, (job_id,)).fetchone()
    assert row is not None
    return ExportProgress(*row)


def files(connection: Connection, job_id: str) -> list[File]:
    """Return the files of all parts that are done."""
    return [msgspec.convert(row[0], File) for row in connection.execute(SQL.files, (job_id,))]


def publish(connection: Connection, job: Job, outcome: Outcome) -> bool:
    """Publish an export, all at once; False if it is no longer ours."""
    values = (job.id, job.attempt, Jsonb(outcome.result), EXPORT.kept_hours, outcome.data_version, outcome.rows)
    return connection.execute(SQL.publish, values).fetchone() is not None
