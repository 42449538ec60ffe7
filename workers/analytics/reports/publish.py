"""A report from its computation to its published result: one snapshot, bytes under the attempt, one fenced UPDATE."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import date, timedelta
from io import BytesIO
from typing import Any, BinaryIO, TypeVar, cast

import msgspec
import psycopg
import pyarrow as pa

from shared.analytics.exchange import (
    AGE_DAYS_MAX,
    ORIGINAL,
    ROUNDING,
    Converter,
    by_currency,
    converted,
    unknown_table,
    with_original,
)
from shared.analytics.exchange import SQL as RATES
from shared.analytics.manifest import MEDIA_TYPES, Manifest, key_of, tail
from shared.analytics.results import Rows, write
from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import RollupsOutdated
from shared.jobs.contract import (
    BRAND_INSIGHTS,
    CATEGORY_INSIGHTS,
    COHORTS,
    JOB_KINDS,
    PRICE_INDEX,
    REDUCTIONS,
    SUSTAINABILITY_ROLLUP,
    fingerprint,
)
from shared.objects.directory import ResultStore
from shared.telemetry import metrics
from shared.telemetry.log import Log
from workers.analytics.reports import cohorts, insights, price_index, reductions, sustainability_rollup
from workers.analytics.reports.aggregator import EPOCH, last_day_of
from workers.analytics.reports.query import ReportProgress
from workers.analytics.reports.result import Answer, with_partial_periods
from workers.analytics.rollups.layout import LAYOUT
from workers.jobs.context import Job
from workers.jobs.job_handler import JobContext, Outcome, StoredResultHandler
from workers.jobs.leases import Lease, cancel_statement

# A report's amounts in another currency: each row at the rate of its period's last day.


def convert(connection: Connection, answer: Answer, parameters: dict[str, Any]) -> Answer:
    """Return the answer in the currency that `convert` asks for, or as it is where nothing does.

    In the snapshot of the answer. Raises InvalidParameter where the table is unknown or has no rate for a row.
    """
    if parameters.get("convert") is None:
        return answer
    schema, rows = answer.rows.schema, answer.table.to_pylist()
    days = [last_day_of(row["period"], parameters.get("granularity"), answer.days.last) for row in rows]
    currencies = {row["currency"] for row in rows}
    converter = _converter(connection, parameters["convert"], str(parameters["rates"]), currencies, days)
    made = [
        {**converted(row, converter.rate(row["currency"], day)), "currency": converter.to, ORIGINAL: row["currency"]}
        for row, day in zip(rows, days, strict=True)
    ]
    return replace(
        answer,
        rows=Rows.of(made, with_original(schema)),
        rounding={**answer.rounding, **dict.fromkeys(_amounts(schema), ROUNDING)},
        conversion=converter.meta(),
    )


def _converter(connection: Connection, to: str, name: str, currencies: set[str], days: list[date]) -> Converter:
    first, last = (min(days), max(days)) if days else (EPOCH, EPOCH)
    values = (name, sorted(currencies | {to}), first - timedelta(days=AGE_DAYS_MAX), last)
    row = connection.execute(RATES.table, values).fetchone()
    if row is None:
        raise unknown_table(name)
    title, url, _, *columns = row
    return Converter(to, name, title, url, by_currency(*columns))


def _amounts(fields: Any, before: str = "") -> list[str]:
    """Return the names of all amounts; those in lists of objects with the list's name before theirs."""
    names = []
    for one in fields:
        kind = one.type.value_type if pa.types.is_list(one.type) else one.type
        if pa.types.is_decimal(kind):
            names.append(before + one.name)
        elif pa.types.is_struct(kind):
            names += _amounts(kind, f"{before}{one.name}.")
    return names


# A read replica for reports: read only when it holds the ordered data_version; otherwise the primary is read.


SQL = load_queries(__file__, "publish.sql")
_LOOK_SECONDS = 0.05
_REST_SECONDS = 10.0
_TRIES = 2
Result = TypeVar("Result")


class Replica:
    """A streaming replica as one worker process knows it; without an address it is never read.

    After a failure it is not read for some seconds.
    """

    def __init__(self, url: str, wait_seconds: float, log: Log) -> None:
        self._url = url
        self._wait_seconds = wait_seconds
        self._log = log
        self._rests_until = 0.0

    def read(self, lease: Lease, version: int, work: Callable[[Connection], Result]) -> Result | None:
        """Read on the replica, in a state of it that holds this data_version; None where the primary must be read.

        Raises LeaseLost or JobTimeout if the attempt must stop, and whatever the reading itself raises.
        """
        if not self._url:
            return None
        if time.monotonic() < self._rests_until:
            metrics.replica_reads.labels("rested").inc()
            return None
        why, failure = "conflict", None
        for _ in range(_TRIES):
            try:
                answer = self._read(lease, version, work)
            except psycopg.Error as error:
                lease.check()  # a cancelled statement surfaces here as an error
                failure = type(error).__name__
                if _gave_way(error):
                    continue
                why = "away"
                break
            if answer is not None:
                metrics.replica_reads.labels("replica").inc()
                return answer
            why = "behind"
            break
        self._pass_over(lease, why, failure)
        return None

    def _read(self, lease: Lease, version: int, work: Callable[[Connection], Result]) -> Result | None:
        with (
            connect(self._url, application="replica", autocommit=True) as connection,
            lease.stopped_by(lambda: cancel_statement(connection)),
        ):
            return work(connection) if self._has_come(lease, connection, version) else None

    def _has_come(self, lease: Lease, connection: Connection, version: int) -> bool:
        """Wait until the replica has replayed the load that made this data_version.

        Replay never goes back, so once the version is visible the check cannot become stale.
        """
        ends = time.monotonic() + self._wait_seconds
        while True:
            [(held, readable)] = connection.execute(SQL.newest, (LAYOUT,)).fetchall()
            if readable and held >= version:
                return True
            if time.monotonic() >= ends:
                return False
            lease.check()
            time.sleep(_LOOK_SECONDS)

    def _pass_over(self, lease: Lease, why: str, error: str | None) -> None:
        # One job has waited for a replica that lags or is unavailable; the next job need not wait too.
        self._rests_until = time.monotonic() + (0.0 if why == "conflict" else _REST_SECONDS)
        metrics.replica_reads.labels(why).inc()
        self._log.warning("replica-passed-over", job=lease.job_id, why=why, error=error)


def _gave_way(error: psycopg.Error) -> bool:
    """Return whether a query was cancelled for the replica's replay (class 40), or by its operator (57014)."""
    return (error.sqlstate or "").startswith("40") or isinstance(error, psycopg.errors.QueryCanceled)


# Which function computes which report.


Make = Callable[[Connection, dict[str, Any], ReportProgress], Answer]
COMPUTATIONS: dict[str, Make] = {
    COHORTS.name: cohorts.make,
    CATEGORY_INSIGHTS.name: insights.categories,
    BRAND_INSIGHTS.name: insights.brands,
    PRICE_INDEX.name: price_index.make,
    REDUCTIONS.name: reductions.make,
    SUSTAINABILITY_ROLLUP.name: sustainability_rollup.make,
}


ARTICLES = "an article that several sources have is one item"
"""The assumption of every report."""


class ReportHandler(StoredResultHandler):
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

    def _read(self, connection: Connection, context: JobContext) -> tuple[int, Answer]:
        connection.autocommit = False
        connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
        try:
            [(version, readable)] = connection.execute(SQL.newest, (LAYOUT,)).fetchall()
            if not readable:
                raise RollupsOutdated
            parameters = context.job.parameters
            answer = with_partial_periods(self._compute(connection, parameters, context.progress))
            return version, convert(connection, answer, parameters)
        finally:
            if not connection.closed:
                connection.rollback()
                connection.isolation_level, connection.read_only = None, None
                connection.autocommit = True


def _write(store: ResultStore, job: Job, data_version: int, answer: Answer) -> Manifest:
    kind, format = JOB_KINDS[job.kind], job.format
    key = key_of(job.id, job.attempt, kind.name, format)
    units = kind.units if answer.rows.num_rows else 0  # the row's trigger refunds what was charged
    with store.writing(key) as file:
        meta = write(answer.rows, lambda digest: _meta(answer, data_version, digest, units), format, file)
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
