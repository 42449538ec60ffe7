"""A report from its computation to its published result: one snapshot, bytes under the attempt, one fenced UPDATE."""

import hashlib
from dataclasses import asdict
from io import BytesIO
from typing import Any, BinaryIO, cast

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.errors import CellsOutdated
from shared.jobs.contract import KINDS, fingerprint
from shared.objects.directory import ResultStore
from shared.results import layout
from shared.results.formats import MEDIA_TYPES, write
from shared.results.layout import Manifest
from workers.context import Job
from workers.job_handler import JobContext, Outcome
from workers.leases import SQL as LEASE
from workers.reports.conversion import convert
from workers.reports.registry import Make
from workers.reports.replica import Replica
from workers.reports.result import Answer
from workers.rollups.layout import LAYOUT

SQL = beside(__file__, "publish.sql")

ARTICLES = "an article that several sources have is one item"
"""The assumptions of every report."""


class ReportHandler:
    """One kind of report: computed from one snapshot of the replica or the primary, and stored as one file."""

    def __init__(self, compute: Make, replica: Replica) -> None:
        self._compute = compute
        self._replica = replica

    def run(self, context: JobContext) -> Outcome:
        """Compute the report and write it under its attempt; it is not visible before `publish`."""
        job = context.job

        def read(source: Connection) -> tuple[int, Answer]:
            return self._read(source, context)

        from_replica = self._replica.read(context.lease, job.data_version, read)
        context.lease.check()
        data_version, answer = from_replica or read(context.connection)
        context.progress("writing", 0, answer.rows.num_rows)
        manifest = _write(context.services.objects, job, data_version, answer)
        return Outcome(
            msgspec.to_builtins(manifest),
            bytes=manifest.bytes,
            rows=manifest.rows,
            data_version=data_version,
            fingerprint=fingerprint(job.parameters, manifest.format, data_version),
        )

    def publish(self, context: JobContext, outcome: Outcome) -> bool:
        """Publish the written file; False if the job is no longer ours, and then the file is never visible."""
        job = context.job
        values = (
            job.id,
            job.attempt,
            Jsonb(outcome.result),
            KINDS[job.kind].kept_hours,
            outcome.data_version,
            outcome.fingerprint,
            outcome.rows,
        )
        return context.connection.execute(LEASE.publish, values).fetchone() is not None

    def _read(self, connection: Connection, context: JobContext) -> tuple[int, Answer]:
        connection.autocommit = False
        connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
        try:
            row = connection.execute(SQL.newest, (LAYOUT,)).fetchone()
            assert row is not None
            version, readable = row
            if not readable:
                raise CellsOutdated
            parameters = context.job.parameters
            return version, convert(connection, self._compute(connection, parameters, context.progress), parameters)
        finally:
            if not connection.closed:
                connection.rollback()
                connection.isolation_level, connection.read_only = None, None
                connection.autocommit = True


def _write(store: ResultStore, job: Job, data_version: int, answer: Answer) -> Manifest:
    kind, format = KINDS[job.kind], job.format
    key = layout.key_of(job.id, job.attempt, kind.name, format)
    with store.writing(key) as file:
        meta = write(answer.rows, lambda digest: _meta(answer, data_version, digest, kind.units), format, file)
        size, sha256 = _read_back(file)
    return Manifest(
        key=key,
        format=format,
        media_type=MEDIA_TYPES[format],
        rows=answer.rows.num_rows,
        bytes=size,
        sha256=sha256,
        result_sha256=meta["result_sha256"],
        data_version=data_version,
        meta=msgspec.json.encode(meta).decode(),
        tail_bytes=len(layout.tail(meta)) if format == "json" else 0,
        paged=answer.page is not None,
        after=answer.page.after if answer.page else None,
    )


def _meta(answer: Answer, data_version: int, result_sha256: str, units: int) -> dict[str, Any]:
    coverage = answer.coverage
    return {
        "data_version": data_version,
        "result_sha256": result_sha256,
        "cached": False,
        "cost_units": units,
        "rows": answer.rows.num_rows,
        "from": answer.first,
        "to": answer.last,
        "window_ended_by": answer.ended_by,
        "coverage": {
            "days": coverage.days,
            "observed_days": coverage.observed_days,
            "missing_days": coverage.missing_days,
            "first": coverage.first,
            "last": coverage.last,
        },
        "units": answer.units,
        "method": f"{answer.method}; {ARTICLES}",
        "rounding": answer.rounding,
        **({"kind": answer.kind} if answer.kind else {}),
        **({"basis": answer.basis} if answer.basis else {}),
        **({"outliers": asdict(answer.outliers)} if answer.outliers else {}),
        **({"conversion": answer.conversion} if answer.conversion else {}),
        **({"displacement": answer.displacement._asdict()} if answer.displacement else {}),
        **({"total": answer.page.total} if answer.page else {}),
    }


def _read_back(file: BinaryIO) -> tuple[int, str]:
    """Return the size and the SHA-256 of what the file now holds, not of what was meant to be in it."""
    file.flush()
    size = file.seek(0, 2)
    file.seek(0)
    return size, hashlib.file_digest(cast(BytesIO, file), "sha256").hexdigest()
