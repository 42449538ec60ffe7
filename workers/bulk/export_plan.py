"""How an export is split: the source that all its parts read, and the range that each of them writes."""

import math
from dataclasses import dataclass
from uuid import UUID, uuid5

import psycopg
from psycopg.types.json import Jsonb

from shared.bulk.request import GONE, ID_END, NO_MONTH, ROWS, ROWS_SQL, Request, count_query, read_scope
from shared.bulk.schema import CHANGES
from shared.db.connect import Connection, Row
from shared.db.queries import load_queries
from shared.errors import JobRefused
from shared.jobs.contract import EXPORT_PART
from shared.objects.directory import ResultStore
from workers.bulk.part import CHANGED, RELEASE
from workers.bulk.sources.release import ranges_of_release
from workers.jobs.job import ClaimedJob
from workers.jobs.leases import LeaseLost
from workers.jobs.services import SplitRows

SQL = load_queries(__file__, "exports.sql")
_PART_ITEMS = 250_000  # a part holds the names of its items in memory
_PARTS_MAX = 5_000


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """The source of an export's parts: `source` is a snapshot's name, RELEASE or CHANGED.

    `months` are those that the export is narrowed to, None: all. A range is its content, its first key and its end.
    """

    data_version: int
    source: str
    months: list[str] | None
    ranges: list[tuple[str, int, int]]


def plan_export(snapshot_db: Connection, objects: ResultStore, request: Request, split: SplitRows) -> ExportPlan:
    """Plan to read the release of the newest version if it has all that is requested, else a snapshot.

    The snapshot lives as long as the transaction of `snapshot_db` stays open.
    """
    snapshot_db.isolation_level, snapshot_db.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True

    def rows(query: str, *values: object) -> list[Row]:
        return snapshot_db.execute(query, values or None).fetchall()

    if request.dataset in CHANGES:
        found = rows(SQL.changes, request.dataset, request.until, request.since)
        snapshot_db.rollback()
        if not found:
            raise JobRefused("job-failed", "One of the two releases has expired since the order. Choose a newer one.")
        [(version,)] = found
        return ExportPlan(version, CHANGED, None, [(ROWS, request.since or 0, version)])
    [(version,)] = rows(ROWS_SQL.newest)
    usual = split.export_parts.get(request.dataset, 1) // 2
    in_release = ranges_of_release(snapshot_db, objects, request, version, usual)
    if 0 < len(in_release) <= _PARTS_MAX:
        snapshot_db.rollback()  # nothing reads this snapshot, and held open it would keep VACUUM from its work
        return ExportPlan(version, RELEASE, None, [(ROWS, first, end) for first, end in in_release])
    [(snapshot,)] = rows(SQL.export_snapshot)
    scope = read_scope(rows, request)
    narrowed = request.dataset == "observations" and bool(scope.months)
    months = [month.isoformat() for month in scope.months if month != NO_MONTH] if narrowed else None
    if request.dataset not in split.export_parts:
        return ExportPlan(version, snapshot, months, [(ROWS, 0, ID_END)])

    def count(dataset: str) -> int:
        query, values = count_query(dataset, scope, ID_END)
        return int(rows(query, *values)[0][0])

    items = count("items") if request.dataset == "observations" else 0
    return ExportPlan(version, snapshot, months, ranges_of(request, count(request.dataset), items, split))


def ranges_of(request: Request, rows: int, items: int, split: SplitRows) -> list[tuple[str, int, int]]:
    """Return the ranges of keys, one per part, for a request of `rows` rows of `items` items."""
    by_rows, by_items = math.ceil(rows / split.export_parts[request.dataset]), math.ceil(items / _PART_ITEMS)
    count = max(by_rows, by_items, 2 if rows > split.export_shared else 1)
    count += count % 2 if count > 1 else 0  # of seven parts, one of two workers would write the last one alone
    step = -(-ID_END // min(count, _PARTS_MAX))
    ranges = [(ROWS, start, min(start + step, ID_END)) for start in range(0, ID_END, step)]
    return ranges if request.since is None else [*ranges, (GONE, 0, ID_END)]


def write_plan(connection: Connection, job: ClaimedJob, plan: ExportPlan) -> list[str]:
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
