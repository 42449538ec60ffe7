"""GET /index/lookup: what it answers, what it counts, what it refuses."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop

SOY, CUSTARD = mint("shop", "1").iid, mint("shop", "2").iid


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def test_a_record_has_every_member_with_exact_money(edge: Edge) -> None:
    answer = await edge.get(f"/index/lookup/{SOY}")
    record = answer.json
    assert answer.status == 200
    assert record["name"] == "Soy milk 1L"
    assert record["brand"]["slug"] == "vita"
    assert record["category"] == {"code": "drinks.soy-milk", "path": ["Drinks", "Soy milk"]}
    assert record["price_band"] == {
        "currency": "HKD",
        "kind": "listing",
        "low": "9.00",
        "median": "10.90",
        "high": "11.50",
        "observations": 3,
        "set_aside": 0,
        "from": "2026-07-01",
        "to": "2026-07-02",
    }
    assert [c["channel"] for c in record["channels"]] == ["NORTH", "SOUTH"]
    assert record["sustainability"] is None
    assert answer.head["ETag"].startswith(f'W/"{SOY}.1-')
    assert answer.head["Cache-Control"] == "private, max-age=60"


async def test_lower_case_is_answered_with_the_canonical_form(edge: Edge) -> None:
    assert (await edge.get(f"/index/lookup/{SOY.lower()}")).json["iid"] == SOY


async def test_a_representation_that_the_caller_has_is_304_and_is_not_counted(edge: Edge) -> None:
    first = await edge.get(f"/index/lookup/{SOY}")
    for _ in range(5):
        again = await edge.get(f"/index/lookup/{SOY}", head={"If-None-Match": first.head["ETag"]})
        assert (again.status, again.body) == (304, b"")
    quota = await edge.get("/quota")
    assert quota.json["limits"][0]["used"] == 1


async def test_head_answers_as_get_without_a_body(edge: Edge) -> None:
    answer = await edge.ask("HEAD", f"/index/lookup/{SOY}")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.head["ETag"].startswith(f'W/"{SOY}.1-')


async def test_an_unknown_iid_is_404_and_is_counted(edge: Edge) -> None:
    answer = await edge.get("/index/lookup/IID-UNKNOWN")
    assert answer.json["type"].endswith("/iid-not-found")
    assert (await edge.get("/quota")).json["limits"][0]["used"] == 1


async def test_a_mistyped_iid_is_named_as_such(edge: Edge) -> None:
    wrong = SOY[:-1] + ("A" if SOY[-1] != "A" else "B")
    answer = await edge.get(f"/index/lookup/{wrong}")
    assert (answer.status, answer.json["detail"].split(". ")[1]) == (
        404,
        "If it is one of ours, a character of it is mistyped.",
    )


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


async def test_a_malformed_iid_is_400_and_costs_nothing(edge: Edge) -> None:
    for text in NO_IIDS:
        answer = await edge.get(f"/index/lookup/{text}")
        assert answer.status in (400, 404), (text, answer)
        assert b"<script" not in answer.body
        assert (await edge.get("/quota")).json["limits"][0]["used"] == 0, text


async def test_the_fourth_call_of_a_day_is_429_with_the_contracts_sentence(edge: Edge) -> None:
    for _ in range(3):
        assert (await edge.get(f"/index/lookup/{CUSTARD}")).status == 200
    refused = await edge.get(f"/index/lookup/{CUSTARD}")
    problem = refused.json
    assert refused.status == 429
    assert problem["title"] == "Too Many Requests"
    assert problem["detail"].startswith("Daily free-tier limit for lookups reached (3 of 3 used); it resets at ")
    assert int(refused.head["Retry-After"]) == problem["retry_after"] in range(1, 86_401)
    assert problem["counted_as"] == "192.0.2.1"
    assert (problem["policy"], problem["limit"]) == ("free-daily", 3)
    assert refused.head["RateLimit"].startswith('"free-daily";r=0;t=')
    assert (await edge.get(f"/index/lookup/{CUSTARD}", address="192.0.2.2")).status == 200


async def test_a_signed_up_caller_continues_where_the_anonymous_one_stopped(edge: Edge, settings: Settings) -> None:
    for _ in range(3):
        await edge.get(f"/index/lookup/{CUSTARD}")
    answer = await edge.get(f"/index/lookup/{CUSTARD}", token=free_token(settings))
    assert answer.status == 200
    assert answer.head["RateLimit"].startswith('"free-daily";r=96;')


async def test_all_of_one_ipv6_network_share_an_allowance(edge: Edge) -> None:
    statuses = [(await edge.get(f"/index/lookup/{SOY}", address=f"2001:db8::{n:x}")).status for n in range(1, 6)]
    assert statuses == [200, 200, 200, 429, 429]


async def test_merged_redirects_and_withdrawn_is_gone(edge: Edge, settings: Settings, tmp_path: Path) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, CUSTARD))
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE iid = $1", (SOY,))
    moved = await edge.get(f"/index/lookup/{CUSTARD}")
    assert (moved.status, moved.head["Location"]) == (301, f"http://testserver/v1/index/lookup/{SOY}")
    gone = await edge.get(f"/index/lookup/{SOY}")
    assert (gone.status, gone.json["type"].rsplit("/", 1)[1]) == (410, "iid-withdrawn")
    assert (await edge.get("/quota")).json["limits"][0]["used"] == 0


async def test_a_load_is_seen_at_once_with_a_new_etag(edge: Edge, settings: Settings, tmp_path: Path) -> None:
    old = await edge.get(f"/index/lookup/{SOY}")
    load_rows(settings, tmp_path, "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-03,NORTH,7,\n", name="more.csv")
    await edge.resources.version.read()
    new = await edge.get(f"/index/lookup/{SOY}", head={"If-None-Match": old.head["ETag"]})
    assert new.status == 200
    assert new.json["price_band"]["low"] == "7.00"
    assert new.head["ETag"].startswith(f'W/"{SOY}.2-')


async def test_many_at_once_each_with_its_own_status(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    answer = await edge.get(f"/index/lookup?iid={SOY}&iid=IID-UNKNOWN&iid=nonsense", key=key)
    assert [(entry["status"], entry["problem"]) for entry in answer.json["data"]] == [
        (200, None),
        (404, "iid-not-found"),
        (400, "invalid-iid"),
    ]
    assert answer.head["RateLimit"].startswith('"brand-daily";r=49999;')


async def test_more_iids_than_the_plan_allows_cost_nothing(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    answer = await edge.get("/index/lookup?" + "&".join(f"iid=IID-{n}" for n in range(101)), key=key)
    assert answer.json["errors"][0]["parameter"] == "iid"
    assert (await edge.get("/", key=key)).json["quota"][0]["used"] == 0


async def test_a_batch_needs_a_key(edge: Edge) -> None:
    answer = await edge.get(f"/index/lookup?iid={SOY}")
    assert (answer.status, answer.json["accepted"]) == (403, ["api-key"])


async def test_a_known_record_is_answered_while_postgresql_is_unavailable(settings: Settings, tmp_path: Path) -> None:
    async with running_edge(settings, tmp_path) as edge:
        assert (await edge.get(f"/index/lookup/{SOY}")).status == 200
        await edge.resources.database.close()
        assert (await edge.get(f"/index/lookup/{SOY}")).status == 200
        answer = await edge.get(f"/index/lookup/{CUSTARD}")
        assert (answer.status, answer.head["Retry-After"]) == (503, "5")
        assert (await edge.get("/quota")).json["limits"][0]["used"] == 2
