"""An export from its claim to its manifest: one worker plans and holds the snapshot, any worker may write a part."""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from shared.bulk.manifest import File, manifest_of
from shared.bulk.request import GONE, ID_END, NO_MONTH, ROWS, ROWS_SQL, Request, counting, read_scope
from shared.bulk.schema import CHANGES
from shared.clock import rfc3339, utc_now
from shared.db.connect import Connection, unavailable
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, JobRefused, StoreUnavailable
from shared.jobs.contract import EXPORT, HELP_EXPORT
from shared.objects.directory import ResultStore
from shared.telemetry.log import trace_of
from workers.bulk.changes import changed_batches
from workers.bulk.part import CHANGED, RELEASE, Part
from workers.bulk.sources.export_rows import snapshot_batches
from workers.bulk.sources.release import ranges_of_release, release_batches, stored_copy
from workers.bulk.sources.snapshot import Snapshot, SnapshotGone
from workers.bulk.writers.part_file import PartFile, Progress
from workers.jobs.context import Job, Services, SplitRows
from workers.jobs.job_handler import JobContext, Outcome
from workers.jobs.leases import Lease, LeaseLost

# A part of an export from its source to its file: batches of a snapshot or of a release, written in one format.


def write_part(
    services: Services,
    connection: Connection,
    part: Part,
    check: Callable[[], None],
    progress: Progress,
) -> File:
    """Write a part's file and return its description; no manifest names it yet. `check` is called often and may raise.

    Raises SnapshotGone or SnapshotLost if the snapshot cannot be read, ResultGone if the release lacks a file.
    """
    with PartFile.begun(services.objects, part, progress) as file, contextlib.ExitStack() as opened:
        if part.snapshot == RELEASE:
            stored = stored_copy(connection, services.objects, part)
            if stored is not None:
                return file.copied(stored, check)
            batches = release_batches(connection, services.objects, part)
        elif part.snapshot == CHANGED:
            batches = changed_batches(connection, services.objects, part)
        else:
            url = services.settings.worker_database_url
            snapshot = opened.enter_context(Snapshot(url, part.snapshot, application="export", check=check))
            batches = snapshot_batches(snapshot, part)
        for batch in batches:
            check()
            file.write(batch)
        check()
        return file.closed()


# How an export is split: the source that all its parts read, and the range that each of them writes.


SQL = load_queries(__file__, "exports.sql")
_PART_ITEMS = 250_000  # a part holds the names of its items in memory
_PARTS_MAX = 5_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The source of an export's parts: `source` is a snapshot's name, RELEASE or CHANGED.

    `months` are those that the export is narrowed to, None: all. A range is its content, its first key and its end.
    """

    data_version: int
    source: str
    months: list[str] | None
    ranges: list[tuple[str, int, int]]


def plan_export(snapshot_db: Connection, objects: ResultStore, request: Request, split: SplitRows) -> Plan:
    """Plan to read the release of the newest version if it has all that is requested, else a snapshot.

    The snapshot lives as long as the transaction of `snapshot_db` stays open.
    """
    snapshot_db.isolation_level, snapshot_db.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True

    def rows(query: str, *values: Any) -> list[tuple[Any, ...]]:
        return snapshot_db.execute(query, values or None).fetchall()

    if request.dataset in CHANGES:
        found = rows(SQL.changes, request.dataset, request.until, request.since)
        snapshot_db.rollback()
        if not found:
            raise JobRefused("job-failed", "One of the two releases has expired since the order. Choose a newer one.")
        [(version,)] = found
        return Plan(version, CHANGED, None, [(ROWS, request.since or 0, version)])
    [(version,)] = rows(ROWS_SQL.newest)
    usual = split.export_parts.get(request.dataset, 1) // 2
    in_release = ranges_of_release(snapshot_db, objects, request, version, usual)
    if 0 < len(in_release) <= _PARTS_MAX:
        snapshot_db.rollback()  # nothing reads this snapshot, and held open it would keep VACUUM from its work
        return Plan(version, RELEASE, None, [(ROWS, first, end) for first, end in in_release])
    [(snapshot,)] = rows(SQL.export_snapshot)
    scope = read_scope(rows, request)
    narrowed = request.dataset == "observations" and bool(scope.months)
    months = [month.isoformat() for month in scope.months if month != NO_MONTH] if narrowed else None
    if request.dataset not in split.export_parts:
        return Plan(version, snapshot, months, [(ROWS, 0, ID_END)])

    def count(dataset: str) -> int:
        query, values = counting(dataset, scope, ID_END)
        return int(rows(query, *values)[0][0])

    items = count("items") if request.dataset == "observations" else 0
    return Plan(version, snapshot, months, ranges_of(request, count(request.dataset), items, split))


def ranges_of(request: Request, rows: int, items: int, split: SplitRows) -> list[tuple[str, int, int]]:
    """Return the ranges of keys, one per part, for a request of so many rows of so many items."""
    by_rows, by_items = math.ceil(rows / split.export_parts[request.dataset]), math.ceil(items / _PART_ITEMS)
    count = max(by_rows, by_items, 2 if rows > split.export_shared else 1)
    count += count % 2 if count > 1 else 0  # of seven parts, one of two workers would write the last one alone
    step = -(-ID_END // min(count, _PARTS_MAX))
    ranges = [(ROWS, start, min(start + step, ID_END)) for start in range(0, ID_END, step)]
    return ranges if request.since is None else [*ranges, (GONE, 0, ID_END)]


# The rows of an export's parts: planned, claimed, renewed, finished; the slot fences every write.


class ExportProgress(NamedTuple):
    """How many parts of an export are in which state, how many rows are written, and the first failure."""

    parts: int
    done: int
    running: int
    queued: int
    rows: int
    failure: dict[str, Any] | None


@dataclass
class PartLease(Lease):
    """Holds a part as a lease holds a job; a renewal writes its progress into the part's row."""

    number: int = 0
    slot: int = 0

    def _renewal(self) -> tuple[LiteralString, tuple[Any, ...]]:
        return SQL.renew, (self.job_id, self.number, self.slot, self.ttl_seconds, self.progress.rows_done)


def write_plan(connection: Connection, job: Job, version: int, source: str, ranges: list[tuple[str, int, int]]) -> None:
    """Insert the parts, or keep those that another worker has planned of the same version. Raises LeaseLost."""
    job_id = job.id
    with connection.transaction():
        if connection.execute(SQL.lock_job, (job_id, job.attempt)).fetchone() is None:
            raise LeaseLost(job_id)
        if connection.execute(SQL.keep_plan, (job_id, version, source)).fetchone() is not None:
            return
        connection.execute(SQL.drop_plan, (job_id,))
        columns = ([bounds[n] for bounds in ranges] for n in range(3))
        connection.execute(SQL.plan, (job_id, version, source, *columns))


def claim(connection: Connection, job_id: str, ttl_seconds: int, attempts_max: int) -> Part | None:
    """Claim the next part for this worker; None if none is queued."""
    row = connection.execute(SQL.claim, (job_id, ttl_seconds, attempts_max)).fetchone()
    return None if row is None else Part(job_id, Request.read(row[0]), *row[1:])


def finish(connection: Connection, part: Part, file: File) -> bool:
    """Record the file of a part; False if the part is no longer ours, and then no manifest names the file."""
    values = (part.job_id, part.number, part.slot, file.rows, Jsonb(msgspec.to_builtins(file)))
    return connection.execute(SQL.finish, values).fetchone() is not None


def publish(connection: Connection, job: Job, outcome: Outcome) -> bool:
    """Publish an export, all at once; False if it is no longer ours."""
    values = (job.id, job.attempt, Jsonb(outcome.result), EXPORT.kept_hours, outcome.data_version, outcome.rows)
    return connection.execute(SQL.publish, values).fetchone() is not None


def _progress_of(connection: Connection, job_id: str, attempts_max: int) -> ExportProgress:
    """Return how far the parts are. A part that has lost too many workers fails here."""
    connection.execute(SQL.fail_exhausted, (job_id, attempts_max))
    [row] = connection.execute(SQL.progress, (job_id,)).fetchall()
    return ExportProgress(*row)


# A worker's share of an export: it claims parts one after the other and writes each under a lease of its own.


def help_export(services: Services, connection: Connection, job_id: str) -> int:
    """Write parts of a running export until none is left or another export waits; return how many were written."""
    written = 0
    ttl_seconds, attempts_max = services.settings.lease_ttl_seconds, services.part_attempts_max
    while (part := claim(connection, job_id, ttl_seconds, attempts_max)) is not None:
        try:
            written += write_claimed(services, connection, part)
        except SnapshotGone:
            return written  # the worker that claims the job next plans anew and asks for help again
        waiting = connection.execute(SQL.other_export_waits, (job_id,)).fetchone()
        if waiting is not None and waiting[0]:
            return written
    return written


def write_claimed(services: Services, connection: Connection, part: Part, job: Lease | None = None) -> bool:
    """Write one part; False if another worker has it, or if it failed and its row says so.

    `job` is the lease of the whole export, if this worker holds it. Raises SnapshotGone or the outage of a store,
    after the part was released, and LeaseLost if the job's lease is lost.
    """
    try:
        file = _written(services, connection, part, job)
        return finish(connection, part, file)
    except LeaseLost:
        if job is not None:
            job.check()
        return False
    except Exception as error:
        if isinstance(error, SnapshotGone | StoreUnavailable) or unavailable(error):
            # Not an attempt: nothing could be read or written. The job is put off, and done parts stay done.
            connection.execute(SQL.release, (part.job_id, part.number, part.slot))
            raise
        _record_failure(services, connection, part, error)
        return False


def _written(services: Services, connection: Connection, part: Part, job: Lease | None) -> File:
    settings = services.settings
    held = (settings.worker_database_url, part.job_id, part.attempt, settings.lease_ttl_seconds, EXPORT.seconds_max)
    lease = PartLease(*held, number=part.number, slot=part.slot)
    before = job.progress.rows_done if job else 0

    def check() -> None:
        lease.check()
        if job is not None:
            job.check()

    def progress(rows: int) -> None:
        lease.progress.rows_done = rows
        if job is not None:
            job.progress.rows_done = before + rows

    with lease:
        file = write_part(services, connection, part, check, progress)
    check()
    return file


def _record_failure(services: Services, connection: Connection, part: Part, error: Exception) -> None:
    # Only the text of our own errors is public: another library's text may quote a row or an address.
    known = isinstance(error, ItemIndexError)
    detail = str(error) if known else f"A part could not be made: {type(error).__name__}."
    services.log.warning(
        "export-part-failed",
        job=part.job_id,
        number=part.number,
        attempt=part.attempt,
        error=type(error).__name__,
        trace=trace_of(error),
    )
    problem = Jsonb({"slug": "job-failed", "detail": detail})
    connection.execute(SQL.fail, (part.job_id, part.number, part.slot, services.part_attempts_max, problem))


# An export from its claim to its manifest: one worker plans and holds the snapshot, any worker may write a part.


_WORKERS_MAX = 4
_POLL_SECONDS = 0.05


class ExportHandler:
    """The coordinator of an export: it plans the parts, writes them beside any helpers, and publishes the manifest."""

    def run(self, context: JobContext) -> Outcome:
        """Plan, hold the snapshot, and write parts until all are done.

        Raises JobRefused if a part has failed for good, LeaseLost if the job is no longer ours.
        """
        job, services = context.job, context.services
        request = Request.read(job.parameters)
        with services.connect("export") as snapshot_db, services.connect("parts", autocommit=True) as parts_db:
            plan = plan_export(snapshot_db, services.objects, request, services.split_rows)
            write_plan(parts_db, job, plan.data_version, plan.source, plan.ranges)
            while (progress := _progress_of(parts_db, job.id, services.part_attempts_max)).done < progress.parts:
                if progress.failure is not None:
                    raise JobRefused(str(progress.failure["slug"]), str(progress.failure["detail"]))
                context.progress("copying", progress.rows)
                context.lease.progress.fraction = 0.99 * progress.done / progress.parts
                ttl_seconds = services.settings.lease_ttl_seconds
                part = claim(parts_db, job.id, ttl_seconds, services.part_attempts_max)
                if part is None:  # helpers are writing the remaining parts, or what failed waits for its pause to end
                    time.sleep(_POLL_SECONDS)
                    continue
                self._request_helpers(context, min(_WORKERS_MAX - progress.running, progress.queued) - 1)
                write_claimed(services, parts_db, part, context.lease)
            files = [msgspec.convert(file, File) for (file,) in parts_db.execute(SQL.files, (job.id,))]
        manifest = manifest_of(request, plan.data_version, plan.months, files, rfc3339(utc_now()))
        return Outcome(msgspec.to_builtins(manifest), manifest.bytes, manifest.rows, manifest.data_version)

    def publish(self, context: JobContext, outcome: Outcome) -> bool:
        """Publish all files at once; False if the job is no longer ours or a part is not done."""
        return publish(context.connection, context.job, outcome)

    def _request_helpers(self, context: JobContext, count: int) -> None:
        """Ask other workers for help. None has to come: this worker then writes all parts itself."""
        with contextlib.suppress(StoreUnavailable):
            # Messages that wait already reach every worker that is free.
            for _ in range(count - context.services.messages.waiting(EXPORT.queue) if count > 0 else 0):
                context.services.messages.send(HELP_EXPORT, context.job.id, EXPORT.queue)
