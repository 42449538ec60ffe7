"""The parts of an export in the hands of their workers: planned, taken, beaten, finished; all fenced by the slot."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from psycopg.types.json import Jsonb

from shared.config import Settings
from shared.db.connect import Connection
from shared.db.queries import beside
from shared.exports.manifest import File
from shared.jobs.contract import EXPORT
from workers.context import Job
from workers.job_handler import Outcome
from workers.leases import Lease, LeaseLost

SQL = beside(__file__, "parts.sql")
ATTEMPTS_MAX = 4


class Part(NamedTuple):
    """One part, taken: a range of a snapshot's items or of a release's files, and a place in the store of its own."""

    job_id: str
    number: int
    content: str
    data_version: int
    snapshot: str
    id_from: int
    id_to: int
    attempt: int
    slot: int


class Standing(NamedTuple):
    """How far an export is."""

    parts: int
    done: int
    running: int
    queued: int
    rows: int
    failure: dict[str, Any] | None


@dataclass
class PartLease(Lease):
    """Holds a part as a lease holds a job; its progress goes into the part's row."""

    number: int = 0
    slot: int = 0

    def _renew(self, connection: Connection) -> bool:
        values = (self.job_id, self.number, self.slot, self.ttl_seconds, self.progress.rows_done)
        return self._note(connection.execute(SQL.renew, values).fetchone() is not None)


def lease_of(settings: Settings, part: Part) -> PartLease:
    """Return the lease of a part, not yet begun."""
    return PartLease(
        settings.worker_database_url,
        part.job_id,
        part.attempt,
        settings.lease_ttl_seconds,
        EXPORT.seconds_max,
        number=part.number,
        slot=part.slot,
    )


def plan(connection: Connection, job: Job, version: int, snapshot: str, ranges: list[tuple[str, int, int]]) -> None:
    """Write down the parts, or keep those that another worker planned of the same version. Raises LeaseLost."""
    job_id = job.id
    with connection.transaction():
        if connection.execute(SQL.hold, (job_id, job.attempt)).fetchone() is None:
            raise LeaseLost(job_id)
        if connection.execute(SQL.keep_plan, (job_id, version, snapshot)).fetchone() is not None:
            return
        connection.execute(SQL.drop_plan, (job_id,))
        columns = ([one[n] for one in ranges] for n in range(3))
        connection.execute(SQL.plan, (job_id, version, snapshot, *columns))


def take(connection: Connection, job_id: str, ttl_seconds: int) -> Part | None:
    """Take the next part for this worker; None where there is none to be had."""
    row = connection.execute(SQL.take, (job_id, ttl_seconds, ATTEMPTS_MAX)).fetchone()
    return None if row is None else Part(job_id, *row)


def finish(connection: Connection, part: Part, file: File) -> bool:
    """Note the file of a part; False when the part is no longer ours, and then nobody will ever list the file."""
    values = (part.job_id, part.number, part.slot, file.rows, Jsonb(msgspec.to_builtins(file)))
    return connection.execute(SQL.finish, values).fetchone() is not None


def fail(connection: Connection, part: Part, problem: dict[str, Any]) -> None:
    """Give a part back, or up after its last attempt."""
    values = (part.job_id, part.number, part.slot, ATTEMPTS_MAX, Jsonb(problem))
    connection.execute(SQL.fail, values)


def give_back(connection: Connection, part: Part) -> None:
    """Give back a part that could not even be begun."""
    connection.execute(SQL.give_back, (part.job_id, part.number, part.slot))


def look(connection: Connection, job_id: str) -> Standing:
    """Return how far the parts are; a part that has lost too many workers fails here."""
    connection.execute(SQL.give_up, (job_id, ATTEMPTS_MAX))
    row = connection.execute(SQL.look, (job_id,)).fetchone()
    assert row is not None
    return Standing(*row)


def files(connection: Connection, job_id: str) -> list[File]:
    """Return the files of all parts that are done."""
    return [msgspec.convert(row[0], File) for row in connection.execute(SQL.files, (job_id,))]


def publish(connection: Connection, job: Job, outcome: Outcome) -> bool:
    """Publish an export, all at once; False if it is no longer ours."""
    values = (job.id, job.attempt, Jsonb(outcome.result), EXPORT.kept_hours, outcome.data_version, outcome.rows)
    return connection.execute(SQL.publish, values).fetchone() is not None
