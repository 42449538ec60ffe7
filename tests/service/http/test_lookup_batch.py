"""GET and POST /index/lookup: both forms answer alike, by the plan's number, in one round trip a store."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import valkey

from edge.index.record import ItemRecord, ItemState, RecordCache
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge, running_edge
from tests.support.database import execute
from tests.support.servers import Contents, Servers
from tests.support.shop import open_shop


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


SOY_BATCH, CUSTARD_BATCH, NEW = (mint("shop", str(number)).iid for number in (1, 2, 3))

MIXED = [SOY_BATCH.lower(), "IID-UNKNOWN", "nonsense", CUSTARD_BATCH, NEW, SOY_BATCH, "{}", "IID-A" + "\u00e9"]


async def post(edge: Edge, key: str, body: Any, query: str = "") -> Answer:
    return await edge.ask("POST", f"/index/lookup{query}", key=key, body=json.dumps(body).encode())


async def test_both_forms_give_the_same_bytes(edge: Edge, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY_BATCH, CUSTARD_BATCH)
        )
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE iid = $1", (NEW,))
    key = api_key(settings)
    query = "&".join(f"iid={text}" for text in [*MIXED[:-2], "%7B%7D", "IID-A%C3%A9"])
    got, posted = await edge.get(f"/index/lookup?{query}", key=key), await post(edge, key, {"iids": MIXED})
    assert (posted.status, posted.body) == (200, got.body)
    assert [entry["status"] for entry in posted.json["data"]] == [200, 404, 400, 301, 410, 200, 400, 400]
    assert posted.json["data"][3]["survivor"] == SOY_BATCH
    one = await edge.get(f"/index/lookup/{SOY_BATCH}", key=key)
    assert posted.json["data"][0]["record"] == posted.json["data"][5]["record"] == one.json


async def test_the_number_is_the_plans_and_no_constant(settings: Settings, tmp_path: Path) -> None:
    execute(settings, "UPDATE plans SET batch_iids_max = 3 WHERE name = 'brand'")
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        assert (await post(edge, key, {"iids": [SOY_BATCH] * 3})).status == 200
        assert (await post(edge, key, {"iids": [SOY_BATCH] * 4})).status == 400
        assert (await edge.get("/", key=key)).json["batch_iids_max"] == 3


async def test_a_cached_answer_is_served_while_postgresql_is_down(settings: Settings, tmp_path: Path) -> None:
    key = api_key(settings)
    async with running_edge(replace(settings, cache_url="unix:///nowhere/at/all.sock"), tmp_path) as edge:
        await edge.get(f"/index/lookup/{SOY_BATCH}", key=key)
        before = await edge.used(key)
        await edge.resources.database.close()
        answer = await post(edge, key, {"iids": [SOY_BATCH, CUSTARD_BATCH]})
        assert [(entry["status"], entry["problem"]) for entry in answer.json["data"]] == [
            (200, None),
            (503, "service-unavailable"),
        ]
        nothing = await post(edge, key, {"iids": [CUSTARD_BATCH, NEW]})
        assert (nothing.status, await edge.used(key)) == (503, before + 1)


async def test_a_batch_is_one_query_and_one_round_trip_to_the_cache(edge: Edge, servers: Servers) -> None:
    asked: list[list[str]] = []

    async def read(iids: Sequence[str]) -> dict[str, ItemRecord]:
        asked.append(list(iids))
        return {iid: ItemRecord(ItemState.RECORD, b"{}", '"1"') for iid in iids}

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
    async def read(iids: Sequence[str]) -> dict[str, ItemRecord]:
        return {iid: ItemRecord(ItemState.RECORD, b"x" * 100, '"1"') for iid in iids}

    stores = edge.resources
    records = RecordCache(stores.cache, stores.version, read, bytes_max=10_000, ttl_seconds=60)
    iids = [mint("kept", str(number)).iid for number in range(20)]
    for _ in range(50):
        await records._load_entries(stores.version.snapshot, iids)
    assert all(records.peek(iid) is not None for iid in iids)
