"""Calls that cost no unit have a burst of their own, and leave paid counters and other organizations alone."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from edge.quota.billing import burst_of
from shared.db.connect import connect
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.outages import refusing
from tests.support.servers import Contents
from tests.support.shop import open_shop

DRY_RUN = "/index/cohorts?brand=vita&dry_run=true"


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def test_the_burst_of_calls_that_cost_nothing_ends_in_429_and_charges_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE plans SET burst_units = 4 WHERE name = 'brand'")
    greedy, other = api_key(settings), api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        answers = await asyncio.gather(*(edge.get(DRY_RUN, key=greedy) for _ in range(60)))
        refused = [answer for answer in answers if answer.status == 429]
        assert {answer.status for answer in answers} == {200, 429}
        assert refused[0].json["policy"] == "unmetered-burst"
        assert (refused[0].json["limit"], refused[0].head["Retry-After"]) == (8, "1")
        assert "8 calls without units a second" in refused[0].json["detail"]
        assert (await edge.get(DRY_RUN, key=other)).status == 200
        # The paid burst is still whole: other counters.
        paid = await edge.get("/index/lookup/IID-99D2F-46WJ3-4S6N3", key=greedy)
        assert paid.status in (200, 404)
        assert "r=3;t=1" in paid.head["RateLimit"]


async def test_a_refused_dry_run_needs_no_database(settings: Settings, tmp_path: Path) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE plans SET burst_units = 2 WHERE name = 'brand'")
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        assert (await edge.get(DRY_RUN, key=key)).status == 200  # the edge remembers the key
        with refusing(settings):
            answers = await asyncio.gather(*(edge.get(DRY_RUN, key=key) for _ in range(60)))
    found = Counter(answer.status for answer in answers)
    assert set(found) <= {503, 429} and found[503] <= 12 and found[429] >= 48


def test_limits_of_plans_that_were_replaced_are_not_kept() -> None:
    plans = [
        Plan(name="p", title="P", rank=2, counted_by="organization", daily_units=1, burst_units=1) for _ in "x" * 500
    ]
    assert all(burst_of(plan) is burst_of(plan) for plan in plans)
    assert burst_of.cache_info().currsize < len(plans)
