"""GET /index/channels against a count of the rows themselves."""

import random
from collections import Counter
from pathlib import Path

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows


@pytest.fixture
def contents() -> Contents:
    return load_rows


async def test_each_channel_has_its_observations_and_its_last_day(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    dice = random.Random(3)
    counted, last = Counter({"NORTH": 3, "SOUTH": 2}), {"NORTH": "2026-07-02", "SOUTH": "2026-07-02"}
    for load in range(3):
        rows = set()
        for _ in range(300):
            day = f"2026-0{dice.choice('3456')}-{dice.randint(1, 30):02}"
            rows.add((dice.randint(10 + load * 100, 109 + load * 100), day, dice.choice(["EAST", "west", "Ω-shop"])))
        for _, day, channel in rows:
            counted[channel] += 1
            last[channel] = max(day, last.get(channel, ""))
        lines = (f"{item},Item {item},Vita,Drinks,Tea,1,{day},{channel},5,\n" for item, day, channel in sorted(rows))
        load_rows(settings, tmp_path, "".join(lines), name=f"{load}.csv")
    key = api_key(settings)
    found, cursor = [], ""
    for _ in range(3):
        page = (await edge.get(f"/index/channels?limit=2{cursor}", key=key)).json
        assert page["total"] == {"value": 5, "relation": "eq"}
        found += page["data"]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert found == [
        {"code": code, "observations": counted[code], "last_seen_on": last[code]} for code in sorted(counted)
    ]
    begun = (await edge.get("/index/channels?q=%CF%89", key=key)).json  # a small omega
    assert [entry["code"] for entry in begun["data"]] == ["Ω-shop"]


async def test_the_list_is_free_for_everyone(edge: Edge) -> None:
    answer = await edge.get("/index/channels")
    assert (answer.status, [entry["code"] for entry in answer.json["data"]]) == (200, ["NORTH", "SOUTH"])
    assert (await edge.get("/quota")).json["limits"][0]["used"] == 1
