"""What an export would hold now: its scope, how many rows, and the first of them."""

import json
from datetime import date, datetime
from decimal import Decimal

from edge.storage.database import Database
from shared.bulk.request import ID_END, JSON_COLUMNS, ROWS_SQL, ReadScope, Request, arguments, count_query, scope_of
from shared.bulk.schema import CHANGES, LIST, RELEASED
from shared.clock import rfc3339

_COUNTED_MAX = 1_000_000
_PREVIEW_ROWS = 10


async def scope_in(database: Database, request: Request) -> ReadScope:
    """Return what a request means now."""
    named = await database.fetch_row(ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        changed = await database.fetch_row(ROWS_SQL.months_since, request.since)
        assert changed is not None
        months = list(changed["months"]) if changed["known"] else None
    return scope_of(request, tuple(named or ()), months)


async def estimate(database: Database, request: Request, scope: ReadScope) -> tuple[int, str]:
    """Return how many rows: exactly (`eq`), at least (`gte`), or `about`, where counting would take too long."""
    if request.dataset in CHANGES:
        row = await database.fetch_row(ROWS_SQL.changes_count, request.dataset, request.since, request.until)
        assert row is not None
        return row["count"], "about"
    query, values = count_query(request.dataset, scope, _COUNTED_MAX + 1)
    row = await database.fetch_row(query, *values)
    assert row is not None
    if request.dataset == "observations":
        return row["count"], "about"
    return min(row["count"], _COUNTED_MAX), "gte" if row["count"] > _COUNTED_MAX else "eq"


async def preview(database: Database, request: Request, scope: ReadScope) -> list[dict[str, object]]:
    """Return ten rows as NDJSON would have them; none of changes, which are computed first."""
    if request.dataset in CHANGES:
        return []
    query = getattr(ROWS_SQL, request.dataset)
    listed = ", ".join(f'"{name}"' for name in request.columns)
    lists = {column.name for column in RELEASED[request.dataset].columns if column.type == LIST}
    values = arguments(request.dataset, scope, 0, ID_END)
    few = f"SELECT {listed} FROM ({query}) r LIMIT {_PREVIEW_ROWS}"  # noqa: S608 - names of declared columns only
    rows = await database.fetch(few, *values)
    return [{name: _plain(value, name, lists) for name, value in row.items()} for row in rows]


def _plain(value: object, name: str, lists: set[str]) -> object:
    if name in lists:
        return str(value).split("\x1f") if value else []
    if value is None:
        return None
    if name in JSON_COLUMNS:
        return json.loads(str(value))
    if isinstance(value, datetime):
        return rfc3339(value)
    return str(value) if isinstance(value, date | Decimal) else value
