"""An export from its claim to its manifest: one worker holds the snapshot and the job, any worker may take a part."""

import contextlib
import math
import time
from typing import Any

import psycopg
from kombu.exceptions import OperationalError as BrokerError

from shared.clock import rfc3339, utc_now
from shared.config import Settings
from shared.db.connect import Connection, connect, unavailable
from shared.errors import ItemIndexError, JobRefused
from shared.exports.contract import GONE, ID_END, ROWS
from shared.exports.manifest import ExportManifest, File, described, media_type
from shared.exports.request import NO_MONTH, ROWS_SQL, Request, Scope, counting, scope_of
from shared.jobs.contract import EXECUTE, EXPORT
from shared.objects.directory import ResultStore
from shared.objects.open import store_of
from shared.releases.datasets import DATASETS
from shared.telemetry.log import trace_of
from workers.app import app
from workers.exports import parts, release_source
from workers.exports.part_writer import write_part
from workers.exports.parts import Part
from workers.exports.release_source import RELEASE
from workers.exports.snapshot_reader import SnapshotGone
from workers.leases import Lease, LeaseLost
from workers.telemetry import log_of

# What is repeated when a worker dies, and what a part's names weigh in memory.
_PART_ROWS = {"observations": 1_500_000, "items": 200_000, "impacts": 500_000}
_PART_ITEMS = 250_000
_SPLIT_ROWS = 100_000  # below this a second worker gains nothing
_PARTS_MAX = 5_000
_HANDS_MAX = 4
_LOOK_SECONDS = 0.2


def make(settings: Settings, job: dict[str, Any], lease: Lease) -> ExportManifest:
    """Plan, hold the snapshot, work on parts beside the helpers until all are done; return the manifest.

    Raises JobRefused where a part has failed for good, LeaseLost where the job is no longer ours.
    """
    request = Request.read(job["parameters"])
    url = settings.worker_database_url
    with connect(url, application="export") as holder, connect(url, application="parts", autocommit=True) as board:
        version, snapshot, months, ranges = _pin(holder, store_of(settings), request)
        parts.plan(board, job, version, snapshot, ranges)
        _work(settings, board, job["id"], request, lease)
        return _manifest(request, version, months, parts.files(board, job["id"]))


def lend_hand(settings: Settings, connection: Connection, job_id: str) -> int:
    """Take parts of a running export until none is left or another export waits; return how many were made."""
    row = connection.execute(parts.SQL.order, (job_id,)).fetchone()
    if row is None:
        return 0
    request, made = Request.read(row[0]), 0
    while (part := parts.take(connection, job_id, settings.lease_ttl_seconds)) is not None:
        try:
            made += _part(settings, connection, part, request, None)
        except SnapshotGone:
            return made  # whoever takes the job up plans anew, and rings again
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


def _work(settings: Settings, board: Connection, job_id: str, request: Request, lease: Lease) -> None:
    while True:
        lease.check()
        standing = parts.look(board, job_id)
        if standing.failure is not None:
            raise JobRefused(str(standing.failure["slug"]), str(standing.failure["detail"]))
        lease.progress.tell("copying", standing.rows)
        lease.progress.fraction = 0.99 * standing.done / standing.parts
        if standing.done == standing.parts:
            return
        if standing.queued > 1 and standing.running < _HANDS_MAX:
            _ring(job_id, min(_HANDS_MAX - standing.running, standing.queued) - 1)
        part = parts.take(board, job_id, settings.lease_ttl_seconds)
        if part is None:
            time.sleep(_LOOK_SECONDS)
        else:
            _part(settings, board, part, request, lease)


def _part(settings: Settings, board: Connection, part: Part, request: Request, job: Lease | None) -> bool:
    """Make one part; False where it went to another worker, or failed and is noted so."""
    lease = parts.lease_of(settings, part)
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
            store = store_of(settings)
            if part.snapshot == RELEASE:
                file = release_source.write_part(board, store, part, request, check, told)
            else:
                file = write_part(settings, store, part, request, check, told)
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
        log_of(settings).warning(
            "export-part-failed",
            job=part.job_id,
            number=part.number,
            attempt=part.attempt,
            error=type(error).__name__,
            trace=trace_of(error),
        )
        parts.fail(board, part, {"slug": "job-failed", "detail": detail})
        return False


def _ring(job_id: str, times: int) -> None:
    """Ask for hands. Nobody has to come: this worker does all parts by itself then."""
    with contextlib.suppress(BrokerError, OSError):
        for _ in range(times):
            app.send_task(EXECUTE, args=[job_id], queue=EXPORT.queue, retry=False)


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
