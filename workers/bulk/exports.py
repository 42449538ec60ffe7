"""An export from its claim to its manifest: one worker plans and holds the snapshot, any worker may write a part."""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from shared.bulk.manifest import File, manifest_of
from shared.bulk.request import GONE, ID_END, NO_MONTH, ROWS, ROWS_SQL, Request, counting, read_scope
from shared.bulk.schema import CHANGES
from shared.clock import rfc3339, utc_now
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import JobRefused
from shared.jobs.contract import EXPORT_PART
from shared.objects.directory import ResultStore
from workers.bulk.changes import changed_batches
from workers.bulk.part import CHANGED, RELEASE, Part
from workers.bulk.sources.export_rows import snapshot_batches
from workers.bulk.sources.release import ranges_of_release, release_batches, stored_copy
from workers.bulk.sources.snapshot import Snapshot
from workers.bulk.writers.part_file import PartFile
from workers.jobs.context import Job, Services, SplitRows
from workers.jobs.job_handler import JobContext, JobHandler, Outcome, RowResultHandler, StoredResultHandler
from workers.jobs.leases import LeaseLost, Progress
from workers.jobs.runner import JobRunner

# A part of an export from its source to its file: batches of a snapshot or of a release, written in one format.


def write_part(
    services: Services,
    connection: Connection,
    part: Part,
    check: Callable[[], None],
    progress: Callable[[int], None],
) -> File:
    """Write a part's file and return its description; no manifest names it yet. `check` is called often and may raise.

    Raises SnapshotLost if the snapshot cannot be read, ResultGone if the release lacks a file.
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


# An export from its claim to its manifest: each part is a job, which this worker or any other runs.


_POLL_SECONDS = 0.05
_IDLE_CONNECTION_SECONDS = 60.0


def write_plan(connection: Connection, job: Job, plan: Plan) -> list[str]:
    """Queue the parts and return their ids; those that were planned before stay as they are. Raises LeaseLost."""
    source = plan.source if plan.source in (RELEASE, CHANGED) else "snapshot"
    ids, parts = list[UUID](), list[Jsonb]()
    for number, (content, start, end) in enumerate(plan.ranges, 1):
        ids.append(uuid5(UUID(job.id), f"{plan.data_version} {source} {number} {content} {start} {end}"))
        bounds = {"number": number, "content": content, "snapshot": plan.source, "id_from": start, "id_to": end}
        parts.append(Jsonb(bounds))
    with connection.transaction():
        if connection.execute(SQL.lock_job, (job.id, job.attempt)).fetchone() is None:
            raise LeaseLost(job.id)
        connection.execute(SQL.plan, (job.id, plan.data_version, EXPORT_PART.attempts_max, ids, parts))
        if job.attempt > 1:
            connection.execute(SQL.drop_parts, (job.id, ids))
    return [str(part) for part in ids]


def part_handler(export: Progress | None = None) -> JobHandler:
    """Return the handler of parts; `export` is the progress of the export to which their rows are added."""

    def run(context: JobContext) -> dict[str, Any]:
        before = export.rows_done if export is not None else 0

        def progress(rows: int) -> None:
            context.lease.progress.report("copying", rows)
            if export is not None:
                export.rows_done = before + rows

        job = context.job
        part = Part(
            job.id, job.attempt, job.data_version, Request.read(job.parameters["request"]), **job.parameters["part"]
        )
        file = write_part(context.services, context.connection, part, context.lease.check, progress)
        return msgspec.structs.asdict(file)

    return RowResultHandler(run)


class Stored(NamedTuple):
    """The bytes of exports that an organization has stored, and how many it may."""

    used: int
    limit: int

    def require_room(self, size: int) -> None:
        """Raise JobRefused where so many bytes more would exceed the limit."""
        if self.used + size > self.limit:
            raise JobRefused(
                "job-failed",
                f"The export has {size:,} bytes or more, and your organization has {self.used:,} of at most "
                f"{self.limit:,} stored. Delete exports that you downloaded, or narrow this one; it costs nothing.",
            )


def read_stored(connection: Connection, context: JobContext) -> Stored:
    """Return what the organization of a job has stored now."""
    settings, job = context.services.settings, context.job
    rows = connection.execute(SQL.stored, (job.organization, settings.stored_export_bytes_max)).fetchall()
    return Stored(*rows[0]) if rows else Stored(0, settings.stored_export_bytes_max)


class ExportHandler(StoredResultHandler):
    """The coordinator of an export: it plans the parts, runs those that no other worker runs, and publishes all."""

    def run(self, context: JobContext) -> Outcome:
        """Plan, hold the snapshot, and run parts until all are done.

        Raises JobRefused if a part has failed for good or there is no room for the files, LeaseLost if the job is no
        longer ours, the outage of a store.
        """
        job, services, shown = context.job, context.services, context.lease.progress
        request = Request.read(job.parameters)
        parts = {EXPORT_PART.name: part_handler(shown)}
        with (
            services.connect("export") as snapshot_db,
            services.connect("parts", autocommit=True) as parts_db,
            contextlib.closing(JobRunner(services, parts, _IDLE_CONNECTION_SECONDS, raises_outages=True)) as runner,
        ):
            plan = plan_export(snapshot_db, services.objects, request, services.split_rows)
            ids = write_plan(parts_db, job, plan)
            stored = read_stored(parts_db, context)
            while True:
                [(done, rows, size, failure)] = parts_db.execute(SQL.progress, (ids,)).fetchall()
                if failure is not None:
                    raise JobRefused(str(failure["slug"]), str(failure["detail"]))
                stored.require_room(size)
                context.progress("copying", rows)
                shown.fraction = 0.99 * done / len(ids)
                if done == len(ids):
                    break
                part = parts_db.execute(SQL.next_part, (ids,)).fetchone()
                if part is not None:
                    runner.run(part[0])
                else:  # other workers write the remaining parts, or what failed waits for its pause to end
                    time.sleep(_POLL_SECONDS)
            files = [msgspec.convert(file, File) for (file,) in parts_db.execute(SQL.files, (ids,))]
        manifest = manifest_of(request, plan.data_version, plan.months, files, rfc3339(utc_now()))
        return Outcome(msgspec.to_builtins(manifest), manifest.bytes, manifest.rows, manifest.data_version)

    def publish(self, context: JobContext, outcome: Outcome) -> bool:
        """Publish where the organization has room for the files, counted exactly. Raises JobRefused."""
        connection = context.connection
        with connection.transaction():
            connection.execute(SQL.lock_stored, (context.job.organization or "",))
            read_stored(connection, context).require_room(outcome.bytes)
            return super().publish(context, outcome)
