"""The estimate of an export: its number of rows, and the first ten of them."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from edge.storage.database import Database
from shared.bulk.manifest import described
from shared.bulk.request import ID_END, JSON_COLUMNS, ROWS_SQL, Request, Scope, arguments, counting, scope_of
from shared.bulk.schema import DATASETS, LIST
from shared.clock import rfc3339
from shared.jobs.contract import EXPORT

_COUNTED_MAX = 1_000_000
_PREVIEW_ROWS = 10


class Estimate(NamedTuple):
    """How many rows: exactly (`eq`), at least (`gte`), or about."""

    rows: int
    relation: str


async def offer(
    database: Database, parameters: dict[str, Any], data_version: int, *, with_rows: bool
) -> dict[str, Any]:
    """Return what an order of these parameters would cost and hold now."""
    request = Request.read(parameters)
    scope = await scope_in(database, request)
    counted = await estimate(database, request, scope)
    return {
        "cost_units": EXPORT.units,
        "rows": counted.rows,
        "rows_relation": counted.relation,
        "data_version": data_version,
        "schema": described(DATASETS[request.dataset], request.columns),
        "request": parameters,
        "preview": await preview(database, request, scope) if with_rows else None,
    }


async def scope_in(database: Database, request: Request) -> Scope:
    """Return what a request means now."""
    named = await database.fetch_row(ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        changed = await database.fetch_row(ROWS_SQL.months_since, request.since)
        assert changed is not None
        months = list(changed["months"]) if changed["known"] else None
    return scope_of(request, tuple(named or ()), months)


async def estimate(database: Database, request: Request, scope: Scope) -> Estimate:
    """Count, or where that would take too long, say about how many."""
    query, values = counting(request.dataset, scope, _COUNTED_MAX + 1)
    row = await database.fetch_row(query, *values)
    assert row is not None
    if request.dataset == "observations":
        return Estimate(row["count"], "about")
    return Estimate(min(row["count"], _COUNTED_MAX), "gte" if row["count"] > _COUNTED_MAX else "eq")


async def preview(database: Database, request: Request, scope: Scope) -> list[dict[str, Any]]:
    """Return ten rows as NDJSON would have them."""
    query = getattr(ROWS_SQL, request.dataset)
    listed = ", ".join(f'"{name}"' for name in request.columns)
    lists = {column.name for column in DATASETS[request.dataset].columns if column.type == LIST}
    values = arguments(request.dataset, scope, 0, ID_END)
    few = f"SELECT {listed} FROM ({query}) r LIMIT {_PREVIEW_ROWS}"  # noqa: S608 - names of declared columns only
    rows = await database.fetch(few, *values)
    return [{name: _plain(value, name, lists) for name, value in row.items()} for row in rows]


def _plain(value: Any, name: str, lists: set[str]) -> Any:
    if name in lists:
        return value.split("\x1f") if value else []
    if value is None:
        return None
    if name in JSON_COLUMNS:
        return json.loads(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    return str(value) if isinstance(value, date | Decimal) else value
