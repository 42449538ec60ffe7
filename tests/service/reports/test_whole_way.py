"""Each heavy GET with its real maker: from the request to a result that the document describes."""

import asyncio

import pytest

from shared.config import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.reports import queued
from tests.support.servers import Contents
from tests.support.shop import load_rows
from workers.tasks import run


async def work(settings: Settings) -> None:
    """Do the one report that is asked for, with the maker that a worker has."""
    while not (jobs := await asyncio.to_thread(queued, settings)):
        await asyncio.sleep(0.01)
    for job in jobs:
        assert await asyncio.to_thread(run, settings, job) == "succeeded"


@pytest.fixture
def contents() -> Contents:
    return load_rows


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("/index/cohorts?brand=vita", 1), ("/index/cohorts?category=drinks&group_by=channel&granularity=day", 4),
        ("/index/insights/categories", 2), ("/index/insights/categories/drinks.soy-milk", 1),
        ("/index/insights/brands", 2), ("/index/insights/brands/vita", 1),
        ("/index/rollups/sustainability?group_by=brand", 2),
    ],
)  # fmt: skip
async def test_a_report_is_made_and_answered(edge: Edge, settings: Settings, path: str, rows: int) -> None:
    key = api_key(settings, "institutional")
    answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
    assert answer.status == 200, answer.body
    assert len(answer.json["data"]) == answer.json["meta"]["rows"] == rows
    meta = answer.json["meta"]
    assert meta["coverage"]["observed_days"] == 2 and meta["to"] == "2026-07-02" and meta["method"]
    again = await edge.get(path, key=key)
    assert again.json["data"] == answer.json["data"]


async def test_money_of_a_cohort_is_text_with_its_currency(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    answer, _ = await asyncio.gather(edge.get("/index/cohorts?brand=vita", key=key), work(settings))
    [row] = answer.json["data"]
    assert (row["currency"], row["p50"], row["min"], row["max"]) == ("HKD", "9.95", "8.50", "11.50")
    assert (row["items"], row["observations"], row["price_n"]) == (2, 4, 4)
    assert [(part["channel"], part["share"]) for part in row["channels"]] == [("NORTH", 0.5), ("SOUTH", 0.5)]
