"""Statements that answer for any number of keys are planned once, not for each number, and read each month once."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import asyncpg
import pytest

from edge.dashboard import catalogue
from edge.index import identifiers, record
from edge.storage.database import EdgeConnection
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.servers import Contents
from tests.support.shop import open_shop

# PostgreSQL plans a statement for its values this often before it compares with one plan for all values.
_PLANNED_FOR_VALUES = 5
IIDS = [mint("shop", str(number)).iid for number in range(1, 4)]
DAY = date(2026, 7, 2)


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        (record.SQL.records, [([iid],) for iid in IIDS] + [(IIDS,)]),
        (
            identifiers.SQL.resolved,
            [(["sku"] * n, ["1", "2", "3"][:n], [""] * n, ["shop"] * n) for n in (1, 2, 3)],
        ),
    ],
    ids=["records", "identifiers"],
)
async def test_one_plan_serves_one_key_and_many(
    settings: Settings, statement: str, arguments: list[tuple[list[str], ...]]
) -> None:
    connection = await asyncpg.connect(settings.edge_database_url)
    try:
        for _ in range(_PLANNED_FOR_VALUES):
            for given in arguments:
                rows = await connection.fetch(statement, *given)
                assert len(rows) == len(given[0])
        query = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1"
        row = await connection.fetchrow(query, statement)
    finally:
        await connection.close()
    assert row is not None
    executed = _PLANNED_FOR_VALUES * len(arguments)
    assert (row["custom_plans"], row["generic_plans"]) == (_PLANNED_FOR_VALUES, executed - _PLANNED_FOR_VALUES)


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        (record.SQL.records, (IIDS,)),
        (
            catalogue.SQL.current_prices,
            (IIDS, ["NORTH"] * 3, [DAY] * 3, [DAY - timedelta(before) for before in range(31)]),
        ),
    ],
    ids=["records", "prices"],
)
async def test_each_month_is_read_once_for_any_number_of_items(
    settings: Settings, statement: str, arguments: tuple[Any, ...]
) -> None:
    """Also before there are statistics: the observations are found by their items, not joined to them."""
    connection = await asyncpg.connect(settings.edge_database_url, connection_class=EdgeConnection)
    try:
        plan = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", *arguments)
    finally:
        await connection.close()
    scans = [
        node for node in _nodes(json.loads(plan)[0]["Plan"]) if node.get("Relation Name") == "observations_2026_07"
    ]
    assert [node["Actual Loops"] for node in scans] == [1]
    conditions = [node.get("Filter", "") + node.get("Index Cond", "") + node.get("Recheck Cond", "") for node in scans]
    assert all("item_id = ANY" in condition for condition in conditions), conditions


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
