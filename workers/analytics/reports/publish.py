"""A report from its computation to its published result: one snapshot, bytes under the attempt, one fenced UPDATE."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO, cast

import msgspec
import psycopg

from shared.analytics.manifest import MEDIA_TYPES, ResultManifest, key_of, tail
from shared.analytics.results import write
from shared.db.connect import Connection
from shared.errors import RollupsOutdated, WeightsNotFound
from shared.jobs.contract import JOB_KINDS, REPORT_KINDS
from shared.objects.directory import ResultStore
from workers.analytics.reports.conversion import convert
from workers.analytics.reports.filters import SQL
from workers.analytics.reports.query import ReportProgress
from workers.analytics.reports.replica import Replica
from workers.analytics.reports.result import Answer, with_partial_periods, with_unit
from workers.analytics.rollups.layout import LAYOUT
from workers.jobs.job import ClaimedJob
from workers.jobs.job_handler import JobContext, JobOutcome, StoredResultHandler

Make = Callable[[Connection, dict[str, Any], ReportProgress], Answer]
COMPUTATIONS: dict[str, Make] = {
    kind.name: import_module(f"workers.analytics.reports.{kind.module}").make for kind in REPORT_KINDS
}
"""The function that computes each report, in the module that its kind names."""


ARTICLES = "an article that several sources have is one item"
"""The assumption of every report."""


class ReportHandler(StoredResultHandler):
    """One kind of report: computed from one snapshot of the replica or the primary, and stored as one file."""

    def __init__(self, compute: Make, replica: Replica) -> None:
        self._compute = compute
        self._replica = replica

    def run(self, context: JobContext) -> JobOutcome:
        """Compute the report and write it under its attempt; it is not visible before `publish`."""
        job = context.job

        def read(source: Connection) -> tuple[int, Answer]:
            return self._read(source, context)

        try:
            from_replica = self._replica.read(context.lease, job.data_version, read)
        except WeightsNotFound:
            from_replica = None  # it may not have replayed their upload yet, which makes no data_version
        context.lease.check()
        data_version, answer = from_replica or read(context.connection)
        context.progress("writing", 0, answer.rows.num_rows)
        manifest = _write(context.services.objects, job, data_version, answer)
        return self.outcome_of(job, manifest)

    def _read(self, connection: Connection, context: JobContext) -> tuple[int, Answer]:
        connection.autocommit = False
        connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
        try:
            [(version, readable)] = connection.execute(SQL.newest, (LAYOUT,)).fetchall()
            if not readable:
                raise RollupsOutdated
            parameters = context.job.parameters
            answer = with_unit(with_partial_periods(self._compute(connection, parameters, context.progress)))
            return version, convert(connection, answer, parameters)
        finally:
            if not connection.closed:
                connection.rollback()
                connection.isolation_level, connection.read_only = None, None
                connection.autocommit = True


def _write(store: ResultStore, job: ClaimedJob, data_version: int, answer: Answer) -> ResultManifest:
    kind, format = JOB_KINDS[job.kind], job.format
    key = key_of(job.id, job.attempt, kind.name, format)
    units = kind.units if answer.rows.num_rows else 0  # the row's trigger refunds what was charged
    with store.create(key) as file:
        meta = write(answer.rows, lambda digest: _meta(answer, data_version, digest, units), format, file)
        size, sha256 = _read_back(file)
    return ResultManifest(
        key=key,
        format=format,
        media_type=MEDIA_TYPES[format],
        rows=answer.rows.num_rows,
        bytes=size,
        sha256=sha256,
        result_sha256=meta["result_sha256"],
        data_version=data_version,
        meta=msgspec.json.encode(meta).decode(),
        tail_bytes=len(tail(meta)) if format == "json" else 0,
        paged=answer.page is not None,
        after=answer.page.after if answer.page else None,
    )


def _meta(answer: Answer, data_version: int, result_sha256: str, units: int) -> dict[str, Any]:
    return {
        "data_version": data_version,
        "result_sha256": result_sha256,
        "cached": False,
        "cost_units": units,
        "rows": answer.rows.num_rows,
        "from": answer.days.first,
        "to": answer.days.last,
        "window_ended_by": answer.days.ended_by,
        "coverage": answer.coverage,
        "units": answer.units,
        "method": f"{answer.method}; {ARTICLES}",
        "rounding": answer.rounding,
        **({"kind": answer.kind} if answer.kind else {}),
        **({"basis": answer.basis} if answer.basis else {}),
        **({"outliers": asdict(answer.outliers)} if answer.outliers else {}),
        **({"unit_prices": asdict(answer.unit_prices)} if answer.unit_prices else {}),
        **({"weights": answer.weights} if answer.weights else {}),
        **({"conversion": answer.conversion} if answer.conversion else {}),
        **({"displacement": answer.displacement._asdict()} if answer.displacement else {}),
        **({"total": answer.page.total} if answer.page else {}),
    }


def _read_back(file: BinaryIO) -> tuple[int, str]:
    """Return the size and the SHA-256 of what the file now holds, not of what was meant to be in it."""
    file.flush()
    size = file.seek(0, 2)
    file.seek(0)
    return size, hashlib.file_digest(cast("BytesIO", file), "sha256").hexdigest()
