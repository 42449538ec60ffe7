"""How an export is split: the source that all its parts read, and the range that each of them writes."""

import math
from dataclasses import dataclass
from typing import Any

import psycopg

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.exports.contract import GONE, ID_END, ROWS
from shared.exports.request import NO_MONTH, ROWS_SQL, Request, counting, read_scope
from shared.objects.directory import ResultStore
from workers.context import SplitRows
from workers.datasets.part import RELEASE
from workers.datasets.sources.release import ranges_of_release

SQL = beside(__file__, "plan.sql")
_PART_ITEMS = 250_000  # a part holds the names of its items in memory
_PARTS_MAX = 5_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The source of an export's parts: `source` is a snapshot's name, or RELEASE.

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
