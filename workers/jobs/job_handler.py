"""The one interface of a kind of job: `run` computes under the lease, `publish` makes the outcome visible once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec
from psycopg.types.json import Jsonb

from shared.analytics.manifest import ResultManifest
from shared.db.connect import Connection
from shared.jobs.contract import JOB_KINDS, fingerprint
from workers.jobs.job import ClaimedJob
from workers.jobs.leases import SQL, Lease, succeed
from workers.jobs.services import WorkerServices


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The outcome of an attempt: the row's `result`, and for stored bytes what the row says of them."""

    result: dict[str, object]
    bytes: int = 0
    rows: int = 0
    data_version: int = 0
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class JobContext:
    """One attempt: the process's services, the worker's connection, the job, and its lease.

    The connection is in autocommit mode between the calls of a handler.
    """

    services: WorkerServices
    connection: Connection
    job: ClaimedJob
    lease: Lease

    def progress(self, stage: str, rows_done: int = 0, rows_total: int | None = None) -> None:
        """Report progress; raise LeaseLost or JobTimeout if the attempt must stop."""
        self.lease.progress.report(stage, rows_done, rows_total)
        self.lease.check()


class JobHandler(Protocol):
    """How one kind of job is done."""

    def run(self, context: JobContext) -> JobOutcome:
        """Compute while the lease is held. Nothing that it writes is visible before `publish`."""

    def publish(self, context: JobContext, outcome: JobOutcome) -> bool:
        """Publish by one statement fenced by the attempt; False, and nothing visible, if the job is no longer ours."""


Handlers = Mapping[str, JobHandler]


class StoredResultHandler:
    """A kind of job whose result has bytes in the object store; its subclass computes it."""

    @staticmethod
    def outcome_of(job: ClaimedJob, manifest: ResultManifest) -> JobOutcome:
        """Return the outcome of an attempt that stored one file."""
        return JobOutcome(
            msgspec.to_builtins(manifest),
            bytes=manifest.bytes,
            rows=manifest.rows,
            data_version=manifest.data_version,
            fingerprint=fingerprint(job.parameters, manifest.format, manifest.data_version),
        )

    def publish(self, context: JobContext, outcome: JobOutcome) -> bool:
        """Publish what was stored; False if the job is no longer ours, and then the bytes are never visible."""
        job = context.job
        result, hours = Jsonb(outcome.result), JOB_KINDS[job.kind].kept_hours
        values = (job.id, job.attempt, result, hours, outcome.data_version, outcome.fingerprint, outcome.rows)
        return context.connection.execute(SQL.publish, (*values, outcome.bytes)).fetchone() is not None


class RowResultHandler:
    """A kind of job whose whole result is a small document in its row."""

    def __init__(self, compute: Callable[[JobContext], dict[str, object]]) -> None:
        self._compute = compute

    def run(self, context: JobContext) -> JobOutcome:
        """Compute the document."""
        return JobOutcome(self._compute(context))

    def publish(self, context: JobContext, outcome: JobOutcome) -> bool:
        """Write the document into the row."""
        return succeed(context.connection, context.job, outcome.result)
