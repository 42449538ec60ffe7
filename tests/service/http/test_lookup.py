"""Lookups of one item and of many."""

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
from tests.support.accounts import api_key, free_token
from tests.support.client import Answer, Edge, running_edge
from tests.support.database import execute
from tests.support.servers import Contents, Servers
from tests.support.shop import load_rows, open_shop

# GET /index/lookup: what it answers, what it counts, what it refuses.


SOY, CUSTARD = mint("shop", "1").iid, mint("shop", "2").iid


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


async def test_a_mistyped_iid_is_named_as_such(shared_edge: Edge) -> None:
    wrong = SOY[:-1] + ("A" if SOY[-1] != "A" else "B")
    answer = await shared_edge.get(f"/index/lookup/{wrong}")
    assert (answer.status, answer.json["detail"].split(". ")[1]) == (404, "It probably contains a typing error.")


async def test_lower_case_is_answered_with_the_canonical_form(shared_edge: Edge) -> None:
    assert (await shared_edge.get(f"/index/lookup/{SOY.lower()}")).json["iid"] == SOY


async def test_the_base_address_answers_alike_with_and_without_its_slash(shared_edge: Edge) -> None:
    key = api_key(shared_edge.settings)
    without, with_slash = await shared_edge.get("", key=key), await shared_edge.get("/", key=key)
    assert (without.status, without.json) == (200, with_slash.json)
    refused = await shared_edge.get("", anonymous=False)
    assert (refused.status, refused.json["type"].rsplit("/", 1)[1]) == (401, "missing-credentials")


NO_IIDS = [
    "foo",
    "IID",
    "IID-",
    "IID--A",
    "IID-A%0A",
    "IID-A%20",
    "IID-a_b",
    "IID-" + "A" * 17,
    "IID" + "-A" * 9,
    "IID-%D9%A3",
    "IID-A;v=1",
    "%3Cscript%3E",
    "IID-A%2500",
    "..%2F..%2Fetc",
    "IID-" + "-".join(["A" * 16] * 6),
]


async def test_a_malformed_iid_is_400_and_costs_nothing(shared_edge: Edge) -> None:
    for text in NO_IIDS:
        answer = await shared_edge.get(f"/index/lookup/{text}")
        assert answer.status in (400, 404), (text, answer)
        assert b"<script" not in answer.body
        assert (await shared_edge.get("/quota")).json["limits"][0]["used"] == 0, text


async def test_an_unknown_iid_is_404_and_is_counted(shared_edge: Edge) -> None:
    answer = await shared_edge.get("/index/lookup/IID-UNKNOWN")
    assert answer.json["type"].endswith("/iid-not-found")
    assert (await shared_edge.get("/quota")).json["limits"][0]["used"] == 1


async def test_all_of_one_ipv6_network_share_an_allowance(shared_edge: Edge) -> None:
    statuses = [(await shared_edge.get(f"/index/lookup/{SOY}", address=f"2001:db8::{n:x}")).status for n in range(1, 6)]
    assert statuses == [200, 200, 200, 429, 429]


async def test_the_fourth_call_of_a_day_is_429_with_the_contracts_sentence(shared_edge: Edge) -> None:
    for _ in range(3):
        assert (await shared_edge.get(f"/index/lookup/{CUSTARD}")).status == 200
    refused = await shared_edge.get(f"/index/lookup/{CUSTARD}")
    problem = refused.json
    assert refused.status == 429
    assert problem["title"] == "Too Many Requests"
    assert problem["detail"].startswith("Daily free-tier limit for lookups reached (3 of 3 used); it resets at ")
    assert int(refused.head["Retry-After"]) == problem["retry_after"] in range(1, 86_401)
    assert problem["counted_as"] == shared_edge.address
    assert (problem["policy"], problem["limit"]) == ("free-daily", 3)
    assert refused.head["RateLimit"].startswith('"free-daily";r=0;t=')
    assert (await shared_edge.get(f"/index/lookup/{CUSTARD}", address="192.0.2.2")).status == 200


async def test_a_signed_up_caller_continues_where_the_anonymous_one_stopped(edge: Edge, settings: Settings) -> None:
    for _ in range(3):
        await edge.get(f"/index/lookup/{CUSTARD}")
    answer = await edge.get(f"/index/lookup/{CUSTARD}", token=free_token(settings))
    assert answer.status == 200
    assert answer.head["RateLimit"].startswith('"free-daily";r=96;')


async def test_a_load_is_seen_at_once_with_a_new_etag(edge: Edge, settings: Settings, tmp_path: Path) -> None:
    old = await edge.get(f"/index/lookup/{SOY}")
    load_rows(settings, tmp_path, "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-03,NORTH,7,\n", name="more.csv")
    await edge.resources.version.read()
    new = await edge.get(f"/index/lookup/{SOY}", head={"If-None-Match": old.head["ETag"]})
    assert new.status == 200
    assert new.json["price_band"]["low"] == "7.00"
    assert new.head["ETag"].startswith(f'W/"{SOY}.2-')


async def test_as_many_as_the_plan_allows_and_not_one_more(shared_edge: Edge) -> None:
    for plan, most, units in (("brand", 100, 10), ("institutional", 1_000, 100)):
        key = api_key(shared_edge.settings, plan)
        iids = [mint("other", str(number)).iid for number in range(most + 1)]
        refused = await post(shared_edge, key, {"iids": iids})
        assert (refused.status, refused.json["errors"][0]["parameter"]) == (400, "iids"), plan
        assert str(most) in refused.json["errors"][0]["detail"], plan
        assert await shared_edge.used(key) == 0, plan
        answer = await post(shared_edge, key, {"iids": iids[:most]})
        assert (answer.status, answer.json["count"], await shared_edge.used(key)) == (200, most, units), plan


async def test_a_dry_run_states_the_price_and_charges_nothing(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    for answer in (
        await edge.get("/index/lookup?dry_run=true&" + "&".join(f"iid={SOY_BATCH}" for _ in range(11)), key=key),
        await post(edge, key, {"iids": [SOY_BATCH] * 11}, "?dry_run=true"),
    ):
        reported = answer.json
        assert (answer.status, reported["kind"], reported["cost_units"], reported["data"]) == (
            200,
            "lookup-batch",
            2,
            [],
        )
        assert reported["data_version"] == edge.resources.version.current
    assert await edge.used(key) == 0


async def test_a_body_of_another_form_is_refused(shared_edge: Edge) -> None:
    for body in (
        {},
        {"iids": []},
        {"iids": "IID-A"},
        {"iids": [1]},
        {"iids": [SOY_BATCH], "more": 1},
        [SOY_BATCH],
        {"iids": ["A" * 81]},
    ):
        answer = await post(shared_edge, api_key(shared_edge.settings), body)
        assert answer.status == 400, body


async def test_a_known_record_is_answered_while_postgresql_is_unavailable(settings: Settings, tmp_path: Path) -> None:
    async with running_edge(settings, tmp_path) as edge:
        assert (await edge.get(f"/index/lookup/{SOY}")).status == 200
        await edge.resources.database.close()
        assert (await edge.get(f"/index/lookup/{SOY}")).status == 200
        answer = await edge.get(f"/index/lookup/{CUSTARD}")
        assert (answer.status, answer.head["Retry-After"]) == (503, "5")
        assert (await edge.get("/quota")).json["limits"][0]["used"] == 2


# GET and POST /index/lookup: both forms answer alike, by the plan's number, in one round trip a store.


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
