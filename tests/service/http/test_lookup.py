"""GET /index/lookup: what it answers, what it counts, what it refuses."""

from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.http.test_lookup_batch import SOY_BATCH, post
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop

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
