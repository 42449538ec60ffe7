"""An export from its claim to its manifest: one worker holds the snapshot and the job, any worker may take a part."""

import contextlib
import math
import time
from typing import Any

import msgspec
import psycopg

from shared.clock import rfc3339, utc_now
from shared.db.connect import Connection, unavailable
from shared.errors import ItemIndexError, JobRefused, StoreUnavailable
from shared.exports.contract import GONE, ID_END, ROWS
from shared.exports.manifest import ExportManifest, File, described, media_type
from shared.exports.request import NO_MONTH, ROWS_SQL, Request, Scope, counting, scope_of
from shared.jobs.contract import EXPORT, HELP_EXPORT
from shared.objects.directory import ResultStore
from shared.releases.datasets import DATASETS
from shared.telemetry.log import trace_of
from workers.context import Services
from workers.exports import parts, release_source
from workers.exports.part_writer import write_part
from workers.exports.parts import Part
from workers.exports.release_source import RELEASE
from workers.exports.snapshot_reader import SnapshotGone
from workers.job_handler import JobContext, Outcome
from workers.leases import Lease, LeaseLost

# What is repeated when a worker dies, and what a part's names weigh in memory.
_PART_ROWS = {"observations": 1_500_000, "items": 200_000, "impacts": 500_000}
_PART_ITEMS = 250_000
_SPLIT_ROWS = 100_000  # below this a second worker gains nothing
_PARTS_MAX = 5_000
_HANDS_MAX = 4
_LOOK_SECONDS = 0.2


class ExportHandler:
    """The coordinator of an export: it plans the parts, writes them beside any helpers, and publishes the manifest."""

    def run(self, context: JobContext) -> Outcome:
        """Plan, hold the snapshot, and write parts until all are done.

        Raises JobRefused if a part has failed for good, LeaseLost if the job is no longer ours.
        """
        request, services = Request.read(context.job.parameters), context.services
        with services.connect("export") as holder, services.connect("parts", autocommit=True) as board:
            version, snapshot, months, ranges = _pin(holder, services.objects, request)
            parts.plan(board, context.job, version, snapshot, ranges)
            _work(services, board, context.job.id, request, context.lease)
            return outcome_of(_manifest(request, version, months, parts.files(board, context.job.id)))

    def publish(self, context: JobContext, outcome: Outcome) -> bool:
        """Publish all files at once; False if the job is no longer ours or a part is not done."""
        return parts.publish(context.connection, context.job, outcome)


def outcome_of(manifest: ExportManifest) -> Outcome:
    """Return what the job's row says of an export."""
    return Outcome(
        msgspec.to_builtins(manifest), bytes=manifest.bytes, rows=manifest.rows, data_version=manifest.data_version
    )


def help_export(services: Services, connection: Connection, job_id: str) -> int:
    """Write parts of a running export until none is left or another export waits; return how many were written."""
    row = connection.execute(parts.SQL.order, (job_id,)).fetchone()
    if row is None:
        return 0
    request, made = Request.read(row[0]), 0
    while (part := parts.take(connection, job_id, services.settings.lease_ttl_seconds)) is not None:
        try:
            made += _part(services, connection, part, request, None)
        except SnapshotGone:
            return made  # the worker that claims the job next plans anew and asks for help again
        waiting = connection.execute(parts.SQL.others_wait, (job_id,)).fetchone()
        if waiting is not None and waiting[0]:
            return made
    return made


def _pin(
    holder: Connection, store: ResultStore, request: Request
) -> tuple[int, str, list[str] | None, list[tuple[str, int, int]]]:
    """Find what everything is read from, and split it: the release of the newest version, else a snapshot.

    Returns its version, its name, the months that the export is narrowed to (None: all), and the parts' ranges.
    """
    holder.isolation_level, holder.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
    version = _one(holder, ROWS_SQL.newest)[0]
    usual = _PART_ROWS.get(request.dataset, 1) // 2
    in_release = release_source.ranges(holder, store, request, version, usual)
    if 0 < len(in_release) <= _PARTS_MAX:
        holder.rollback()  # nobody reads this snapshot: held open, it would keep VACUUM from its work
        return version, RELEASE, None, [(ROWS, first, end) for first, end in in_release]
    snapshot = _one(holder, "SELECT pg_export_snapshot()")[0]
    named = _one(holder, ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        known, changed = _one(holder, ROWS_SQL.months_since, request.since)
        months = changed if known else None
    scope = scope_of(request, named, months)
    narrowed = request.dataset == "observations" and bool(scope.months)
    listed = [month.isoformat() for month in scope.months if month != NO_MONTH] if narrowed else None
    return version, snapshot, listed, _ranges(holder, request, scope)


def _ranges(holder: Connection, request: Request, scope: Scope) -> list[tuple[str, int, int]]:
    usual = _PART_ROWS.get(request.dataset)
    if usual is None:
        return [(ROWS, 0, ID_END)]
    query, values = counting(request.dataset, scope, ID_END)
    rows = _one(holder, query, *values)[0]
    items = 0
    if request.dataset == "observations":
        query, values = counting("items", scope, ID_END)
        items = _one(holder, query, *values)[0]
    count = max(math.ceil(rows / usual), math.ceil(items / _PART_ITEMS), 2 if rows > _SPLIT_ROWS else 1)
    step = -(-ID_END // min(count, _PARTS_MAX))
    ranges = [(ROWS, start, min(start + step, ID_END)) for start in range(0, ID_END, step)]
    return ranges if request.since is None else [*ranges, (GONE, 0, ID_END)]


def _work(services: Services, board: Connection, job_id: str, request: Request, lease: Lease) -> None:
    while True:
        lease.check()
        standing = parts.look(board, job_id)
        if standing.failure is not None:
            raise JobRefused(str(standing.failure["slug"]), str(standing.failure["detail"]))
        lease.progress.report("copying", standing.rows)
        lease.progress.fraction = 0.99 * standing.done / standing.parts
        if standing.done == standing.parts:
            return
        if standing.queued > 1 and standing.running < _HANDS_MAX:
            _request_helpers(services, job_id, min(_HANDS_MAX - standing.running, standing.queued) - 1)
        part = parts.take(board, job_id, services.settings.lease_ttl_seconds)
        if part is None:
            time.sleep(_LOOK_SECONDS)
        else:
            _part(services, board, part, request, lease)


def _part(services: Services, board: Connection, part: Part, request: Request, job: Lease | None) -> bool:
    """Make one part; False where it went to another worker, or failed and is noted so."""
    lease = parts.lease_of(services.settings, part)
    before = job.progress.rows_done if job else 0

    def check() -> None:
        lease.check()
        if job is not None:
            job.check()

    def told(rows: int) -> None:
        lease.progress.rows_done = rows
        if job is not None:
            job.progress.rows_done = before + rows

    try:
        with lease:
            store = services.objects
            if part.snapshot == RELEASE:
                file = release_source.write_part(board, store, part, request, check, told)
            else:
                file = write_part(services.settings, store, part, request, check, told)
        check()
        return parts.finish(board, part, file)
    except LeaseLost:
        if job is not None:
            job.check()
        return False
    except SnapshotGone:
        parts.give_back(board, part)
        raise
    except Exception as error:
        if unavailable(error):
            parts.give_back(board, part)  # an outage of PostgreSQL is no attempt; the whole job is put off
            raise
        # Only our own errors may speak: another library's text may quote a row or an address.
        detail = (
            str(error) if isinstance(error, ItemIndexError) else f"A part could not be made: {type(error).__name__}."
        )
        services.log.warning(
            "export-part-failed",
            job=part.job_id,
            number=part.number,
            attempt=part.attempt,
            error=type(error).__name__,
            trace=trace_of(error),
        )
        parts.fail(board, part, {"slug": "job-failed", "detail": detail})
        return False


def _request_helpers(services: Services, job_id: str, count: int) -> None:
    """Ask other workers for help. None has to come: this worker then writes all parts itself."""
    with contextlib.suppress(StoreUnavailable):
        for _ in range(count):
            services.messages.send(HELP_EXPORT, job_id, EXPORT.queue)


def _manifest(request: Request, version: int, months: list[str] | None, made: list[File]) -> ExportManifest:
    # A part without rows is no file, but for one that tells the schema where none has any.
    full = [file for file in made if file.rows] or made[:1]
    return ExportManifest(
        dataset=request.dataset,
        schema=described(DATASETS[request.dataset], request.columns),
        format=request.format,
        compression=request.compression,
        media_type=media_type(request.format, request.compression),
        data_version=version,
        since=request.since,
        months=months or [],
        all_months=months is None,
        created_at=rfc3339(utc_now()),
        rows=sum(file.rows for file in full if file.content == ROWS),
        bytes=sum(file.bytes for file in full),
        files=full,
    )


def _one(connection: Connection, query: str, *values: Any) -> Any:
    row = connection.execute(query, values or None).fetchone()
    assert row is not None
    return row
