"""Orders at the edge of what there is room for, and what the statistics of use say once an order is given back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import open_shop
from workers.dispatcher import Refunds

COHORT = "/index/cohorts?brand=vita"
ASYNC = {"Prefer": "respond-async"}
PAID = (COHORT, "/index/insights/categories", "/index/insights/brands", "/index/rollups/sustainability")


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def key(settings: Settings) -> str:
    return api_key(settings, "institutional")


async def export(edge: Edge, key: str) -> Answer:
    body = json.dumps({"dataset": "brands", "format": "csv"}).encode()
    return await edge.ask("POST", "/index/exports", key=key, body=body)


def settle(settings: Settings, *, dies: bool = False) -> int:
    """Refund what is due; a dispatcher that dies does not commit what it has written down."""
    refunds = Refunds(settings, Log("tests"))
    with connect(settings.worker_database_url, application="tests", autocommit=not dies) as connection:
        settled = refunds.settle(connection)
        if dies:
            connection.rollback()
    refunds.close()
    return settled


def rows(settings: Settings, query: str) -> list[Any]:
    with connect(settings.database_url, application="tests") as connection:
        cursor = connection.execute(query)
        return cursor.fetchall() if cursor.description else []


async def test_beyond_the_backlog_no_order_is_made_and_nothing_is_charged(
    settings: Settings, key: str, tmp_path: Path
) -> None:
    rows(settings, "UPDATE jobs SET state = 'succeeded'")  # the shop's own
    async with running_edge(replace(settings, jobs_waiting_max=1), tmp_path) as edge:
        first = await edge.get(COHORT, key=key, head=ASYNC)
        assert first.status == 202
        for refused in (await edge.get(PAID[1], key=key, head=ASYNC), await export(edge, key)):
            assert (refused.status, refused.json["type"].rsplit("/")[-1]) == (503, "service-unavailable")
            assert int(refused.head["Retry-After"]) == refused.json["retry_after"] > 0
        other = api_key(settings)
        joined = await edge.get(COHORT, key=other, head=ASYNC)
        assert (joined.status, (await edge.get(COHORT, key=key, head=ASYNC)).json["id"]) == (202, first.json["id"])
        for asked in (key, other):
            assert (await edge.get("/", key=asked)).json["quota"][0]["used"] == 10


async def test_refunded_units_are_taken_out_of_the_statistics_of_their_route(
    edge: Edge, settings: Settings, key: str
) -> None:
    for path in PAID:
        job = (await edge.get(path, key=key, head=ASYNC)).json
        assert (await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)).status == 200
    assert (await edge.ask("DELETE", f"/index/exports/{(await export(edge, key)).json['id']}", key=key)).status == 204
    for dies in (True, True, False):
        assert settle(settings, dies=dies) == 5
        assert (await edge.get("/", key=key)).json["quota"][0]["used"] == 0
    assert settle(settings) == 0
    await edge.resources.usage.flush()
    by_route = rows(
        settings,
        "SELECT endpoint, sum(units) FILTER (WHERE units > 0)::int, sum(units)::int FROM usage "
        "GROUP BY endpoint HAVING max(units) > 0 OR min(units) < 0 ORDER BY 1",
    )
    assert by_route == [
        ("brand-insights", 10, 0),
        ("category-insights", 10, 0),
        ("cohorts", 10, 0),
        ("export-order", 100, 0),
        ("rollup", 20, 0),
    ]
