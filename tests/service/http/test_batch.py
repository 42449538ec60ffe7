"""GET and POST /index/lookup: both forms answer alike, by the plan's number, in one round trip a store."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import valkey

from edge.index.lookup import Record, RecordCache
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge, running_edge
from tests.support.servers import Contents, Servers
from tests.support.shop import open_shop

SOY, CUSTARD, NEW = (mint("shop", str(number)).iid for number in (1, 2, 3))
MIXED = [SOY.lower(), "IID-UNKNOWN", "nonsense", CUSTARD, NEW, SOY, "{}", "IID-A" + "\u00e9"]


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def post(edge: Edge, key: str, body: Any, query: str = "") -> Answer:
    return await edge.ask("POST", f"/index/lookup{query}", key=key, body=json.dumps(body).encode())


async def used(edge: Edge, key: str) -> int:
    return int((await edge.get("/", key=key)).json["quota"][0]["used"])


async def test_both_forms_give_the_same_bytes(edge: Edge, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, CUSTARD))
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE iid = $1", (NEW,))
    key = api_key(settings)
    query = "&".join(f"iid={text}" for text in [*MIXED[:-2], "%7B%7D", "IID-A%C3%A9"])
    got, posted = await edge.get(f"/index/lookup?{query}", key=key), await post(edge, key, {"iids": MIXED})
    assert (posted.status, posted.body) == (200, got.body)
    assert [entry["status"] for entry in posted.json["data"]] == [200, 404, 400, 301, 410, 200, 400, 400]
    assert posted.json["data"][3]["survivor"] == SOY
    one = await edge.get(f"/index/lookup/{SOY}", key=key)
    assert posted.json["data"][0]["record"] == posted.json["data"][5]["record"] == one.json


@pytest.mark.parametrize(("plan", "most", "units"), [("brand", 100, 10), ("institutional", 1_000, 100)])
async def test_as_many_as_the_plan_allows_and_not_one_more(
    edge: Edge, settings: Settings, plan: str, most: int, units: int
) -> None:
    key = api_key(settings, plan)
    iids = [mint("other", str(number)).iid for number in range(most + 1)]
    refused = await post(edge, key, {"iids": iids})
    assert (refused.status, refused.json["errors"][0]["parameter"]) == (400, "iids")
    assert str(most) in refused.json["errors"][0]["detail"]
    assert await used(edge, key) == 0
    answer = await post(edge, key, {"iids": iids[:most]})
    assert (answer.status, answer.json["count"], await used(edge, key)) == (200, most, units)


async def test_the_number_is_the_plans_and_no_constant(settings: Settings, tmp_path: Path) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE plans SET batch_iids_max = 3 WHERE name = 'brand'")
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        assert (await post(edge, key, {"iids": [SOY] * 3})).status == 200
        assert (await post(edge, key, {"iids": [SOY] * 4})).status == 400
        assert (await edge.get("/", key=key)).json["batch_iids_max"] == 3


async def test_a_dry_run_states_the_price_and_charges_nothing(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    for answer in (
        await edge.get("/index/lookup?dry_run=true&" + "&".join(f"iid={SOY}" for _ in range(11)), key=key),
        await post(edge, key, {"iids": [SOY] * 11}, "?dry_run=true"),
    ):
        reported = answer.json
        assert (answer.status, reported["kind"], reported["cost_units"], reported["data"]) == (
            200,
            "lookup-batch",
            2,
            [],
        )
        assert reported["data_version"] == edge.resources.version.current
    assert await used(edge, key) == 0


@pytest.mark.parametrize(
    "body",
    [{}, {"iids": []}, {"iids": "IID-A"}, {"iids": [1]}, {"iids": [SOY], "more": 1}, [SOY], {"iids": ["A" * 81]}],
)
async def test_a_body_of_another_form_is_refused(edge: Edge, settings: Settings, body: Any) -> None:
    answer = await post(edge, api_key(settings), body)
    assert answer.status == 400


@pytest.mark.parametrize("body", [[SOY], None, "x", 1])
async def test_a_body_that_is_no_object_is_refused_as_the_body(edge: Edge, settings: Settings, body: Any) -> None:
    answer = await post(edge, api_key(settings), body)
    assert (answer.status, [fault["parameter"] for fault in answer.json["errors"]]) == (400, ["body"])


async def test_a_member_that_comes_twice_is_refused(edge: Edge, settings: Settings) -> None:
    body = f'{{"iids":["{SOY}"],"iids":["{NEW}"]}}'.encode()
    answer = await edge.ask("POST", "/index/lookup", key=api_key(settings), body=body)
    assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (400, "invalid-request")
    assert "`iids` twice" in answer.json["detail"]


async def test_a_cached_answer_is_served_while_postgresql_is_down(settings: Settings, tmp_path: Path) -> None:
    key = api_key(settings)
    async with running_edge(replace(settings, cache_url="unix:///nowhere/at/all.sock"), tmp_path) as edge:
        await edge.get(f"/index/lookup/{SOY}", key=key)
        before = await used(edge, key)
        await edge.resources.database.close()
        answer = await post(edge, key, {"iids": [SOY, CUSTARD]})
        assert [(entry["status"], entry["problem"]) for entry in answer.json["data"]] == [
            (200, None),
            (503, "service-unavailable"),
        ]
        nothing = await post(edge, key, {"iids": [CUSTARD, NEW]})
        assert (nothing.status, await used(edge, key)) == (503, before + 1)


async def test_a_batch_is_one_query_and_one_round_trip_to_the_cache(edge: Edge, servers: Servers) -> None:
    asked: list[list[str]] = []

    async def read(iids: Sequence[str]) -> dict[str, Record]:
        asked.append(list(iids))
        return {iid: Record("+", b"{}", '"1"') for iid in iids}

    stores = edge.resources
    records = RecordCache(stores.cache, stores.version, read, bytes_max=0, ttl_seconds=60)
    iids = [mint("batch", str(number)).iid for number in range(200)]
    first = await records.find_many([*iids, *iids])
    assert [sorted(one) for one in asked] == [sorted(iids)]
    with valkey.Valkey(unix_socket_path=str(servers.paths.socket("cache"))) as client:
        before = int(client.info("stats")["total_reads_processed"])
        assert await records.find_many(iids) == first
        reads = int(client.info("stats")["total_reads_processed"]) - before
    assert len(asked) == 1
    assert reads < 10  # 200 commands; one write, which the store may read in a few pieces


async def test_a_record_that_is_read_again_takes_no_more_memory(edge: Edge) -> None:
    async def read(iids: Sequence[str]) -> dict[str, Record]:
        return {iid: Record("+", b"x" * 100, '"1"') for iid in iids}

    stores = edge.resources
    records = RecordCache(stores.cache, stores.version, read, bytes_max=10_000, ttl_seconds=60)
    iids = [mint("kept", str(number)).iid for number in range(20)]
    for _ in range(50):
        await records._loaded(stores.version.snapshot, iids)
    assert all(records.peek(iid) is not None for iid in iids)
