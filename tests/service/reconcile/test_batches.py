"""Batches of reconciliation queries: their candidates, their price, and what is refused."""

import asyncio
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from shared.settings.settings import Settings
from tests.service.articles.support import OAT, SOY, A
from tests.service.reconcile.conftest import FORM, form, reconcile
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.workers import settle_refunds

ITEM, BRAND = {"id": "item", "name": "Item"}, {"id": "brand", "name": "Brand"}
SOY_QUERY = {"query": "Vitasoy soy milk 1 l", "properties": [{"pid": "gtin", "v": SOY}]}


def gtin(value: Any, query: str = "Soy milk") -> dict[str, Any]:
    return {"query": query, "properties": [{"pid": "gtin", "v": value}]}


def faults(answer: Answer) -> list[tuple[str, str]]:
    assert answer.status == 400, answer
    return [(fault["parameter"], fault["detail"]) for fault in answer.json["errors"]]


async def test_a_gtin_matches_its_item_and_each_query_has_its_own_result(
    edge: Edge, key: str, working: list[str]
) -> None:
    answer = await reconcile(edge, key, {"q0": SOY_QUERY, "q1": {"query": "Stapler for 40 sheets", "limit": 1}})
    assert answer.status == 200, answer
    assert (answer.head["Access-Control-Allow-Origin"], answer.head["Cache-Control"]) == ("*", "no-store")
    best = answer.json["q0"]["result"][0]
    assert best == {
        "id": A,
        "name": best["name"],
        "description": "Vita, Drinks > Soy milk",
        "type": [ITEM],
        "score": 100.0,
        "match": True,
    }
    assert [one["match"] for one in answer.json["q0"]["result"]].count(True) == 1
    assert not any(one["match"] for one in answer.json["q1"]["result"])
    assert len(working) == 1, "one job for the batch"


async def test_a_gtin_may_be_a_number_one_of_several_values_or_the_text_itself(
    edge: Edge, key: str, working: list[str]
) -> None:
    queries = {
        "number": gtin(int(SOY)),
        "several": gtin(["no number", {"id": SOY}]),
        "text": {"query": f" {SOY} "},
        "iid": {"query": A.lower()},
        "wrong": gtin(f"{SOY[:-1]}0", "Quite another thing"),
    }
    found = (await reconcile(edge, key, queries)).json
    matches = {name: [one["id"] for one in found[name]["result"] if one["match"]] for name in queries}
    assert matches == {"number": [A], "several": [A], "text": [A], "iid": [A], "wrong": []}


async def test_brands_and_categories_are_found_by_their_names_without_a_job(edge: Edge, key: str) -> None:
    queries = {
        "brand": {"query": "VITA Ltd.", "type": "brand"},
        "category": {"query": "drinks", "type": ["category"]},
        "begun": {"query": "vit", "type": "brand"},
        "none": {"query": "zzz", "type": "brand"},
        "item": {"query": A, "type": "brand"},
    }
    found = (await reconcile(edge, key, queries)).json
    [brand], [category] = found["brand"]["result"], found["category"]["result"][:1]
    assert (brand["id"], brand["name"], brand["type"], brand["match"]) == ("brand:vita", "Vita", [BRAND], True)
    assert (category["id"], category["match"], category["score"]) == ("category:drinks", True, 100.0)
    assert [(one["id"], one["match"]) for one in found["begun"]["result"]] == [("brand:vita", False)]
    assert found["none"]["result"] == found["item"]["result"] == []


async def test_a_batch_costs_what_a_batch_of_identifiers_costs_and_a_repeated_one_nothing(
    edge: Edge, key: str, working: list[str]
) -> None:
    def eleven(word: str) -> dict[str, Any]:
        return {f"q{number}": {"query": f"{word} {number}"} for number in range(11)}

    assert (await reconcile(edge, key, eleven("soy"))).status == 200
    assert await edge.used(key) == 2
    again = await reconcile(edge, key, eleven("soy"))
    assert (again.status, await edge.used(key), len(working)) == (200, 2, 1)
    names = {f"q{number}": {"query": "vita", "type": "brand"} for number in range(11)}
    assert (await reconcile(edge, key, names)).status == 200
    assert await edge.used(key) == 4
    assert (await reconcile(edge, key, {})).json == {}
    assert await edge.used(key) == 4


async def test_brands_beside_rows_that_were_matched_before_are_paid(edge: Edge, key: str, working: list[str]) -> None:
    def beside(*brands: str) -> dict[str, Any]:
        return {"row": SOY_QUERY, **{brand: {"query": brand, "type": "brand"} for brand in brands}}

    assert (await reconcile(edge, key, beside("vita"))).status == 200
    assert await edge.used(key) == 1
    assert (await reconcile(edge, key, beside("vita"))).status == 200
    assert await edge.used(key) == 1, "the same batch costs nothing"
    assert (await reconcile(edge, key, beside("vita", "oatly"))).status == 200
    assert await edge.used(key) == 2


async def test_a_batch_longer_than_the_plan_allows_is_refused_and_costs_nothing(edge: Edge, key: str) -> None:
    long = {f"q{number}": {"query": "soy"} for number in range(101)}
    assert faults(await reconcile(edge, key, long)) == [
        ("queries", "must have at most 100 entries on the Brand plan, not 101")
    ]
    assert await edge.used(key) == 0


async def test_a_job_that_fails_is_a_problem_and_is_refunded(edge: Edge, settings: Settings, key: str) -> None:
    asked = asyncio.create_task(reconcile(edge, key, {"q0": SOY_QUERY}))
    failed = "UPDATE jobs SET state = 'failed', finished_at = now() WHERE kind = 'match-table' RETURNING id"
    async with asyncio.timeout(20):
        while not execute(settings, failed):
            await asyncio.sleep(0.05)
    answer = await asked
    assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (500, "job-failed")
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 0


async def test_a_job_that_takes_longer_is_joined_by_the_same_batch(
    edge: Edge, settings: Settings, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge.reconcile.items._WAIT_SECONDS", 0)
    for _ in range(2):
        late = await reconcile(edge, key, {"q0": SOY_QUERY})
        assert (late.status, late.head["Retry-After"]) == (503, "5")
    assert execute(settings, "SELECT count(*) FROM jobs WHERE kind = 'match-table'") == [(1,)]
    assert await edge.used(key) == 1


async def test_batches_are_listed_apart_have_a_result_and_log_no_event(
    edge: Edge, settings: Settings, key: str, working: list[str]
) -> None:
    assert (await reconcile(edge, key, {"q0": SOY_QUERY})).status == 200
    assert (await edge.get("/jobs", key=key)).json["data"] == []
    listed = (await edge.get("/jobs?kind=match-table", key=key)).json
    [job] = listed["data"]
    assert (job["state"], job["cost_units"], job["result"]["rows"], listed["total"]["value"]) == ("succeeded", 1, 1, 1)
    result = (await edge.get(f"/jobs/{job['id']}/result", key=key)).json
    assert result["data"][0]["candidates"][0]["iid"] == A
    assert result["meta"] == {"data_version": job["data_version"], "rows": 1}
    assert execute(settings, "SELECT count(*) FROM event_log WHERE type = 'job.ended'") == [(0,)]
    assert (await edge.get(f"/jobs/{job['id']}", key=api_key(settings))).status == 404


WRONG = (
    ('{"q0": {"query": "soy", "limit": 0}}', "queries.q0.limit", "must be a whole number above zero"),
    ('{"q0": {"query": "soy", "type": "person"}}', "queries.q0.type", "must be one of item, brand, category"),
    (
        '{"q0": {"properties": [{"pid": "colour", "v": "red"}]}}',
        "queries.q0.properties",
        "has an unknown `pid`; allowed: gtin, mpn, brand, size",
    ),
    ('{"q0": {}}', "queries.q0", "needs `query` or `properties`"),
    ('{"q0": {"query": "soy", "properties": [{"p": "gtin"}]}}', "queries.q0.properties", "is not as the specification"),
    ('{"q0": {"query": 5}}', "queries.q0.query", "is not as the specification has it: Expected `str`, got `int`"),
    ('{"q0": {"qery": "soy"}}', "queries.q0", "is not as the specification has it: Object contains unknown field"),
    ('{"q0": "soy"}', "queries.q0", "is not as the specification has it"),
    ('["soy"]', "queries", "must be a JSON object"),
    ("soy", "queries", "must be JSON"),
)


@pytest.mark.parametrize(("text", "parameter", "sentence"), WRONG, ids=[case[0] for case in WRONG])
async def test_a_query_that_is_wrong_is_named(
    shared_edge: Edge, shared_key: str, text: str, parameter: str, sentence: str
) -> None:
    body = f"queries={quote(text)}".encode()
    [(named, detail)] = faults(await shared_edge.ask("POST", "/reconcile", key=shared_key, head=FORM, body=body))
    assert named == parameter
    assert detail.startswith(sentence)


async def test_text_that_no_database_keeps_is_no_fault_of_ours(edge: Edge, key: str, working: list[str]) -> None:
    answer = await reconcile(edge, key, {"q\u0000": {"query": "soy\u0000milk 豆奶 \U0001f95b", "limit": 1}})
    assert (answer.status, list(answer.json)) == (200, ["q\u0000"])
    lone = b"queries=" + quote('{"q0": {"query": "\\ud800"}}').encode()
    assert (await edge.ask("POST", "/reconcile", key=key, head=FORM, body=lone)).status == 400
    assert (await edge.ask("POST", "/reconcile", key=key, head=FORM, body=b"queries=%ff")).status == 400


async def test_a_get_and_json_ask_the_same(edge: Edge, key: str, working: list[str]) -> None:
    queries = {"q0": gtin(OAT, "Oat drink")}
    posted = await reconcile(edge, key, queries)
    got = await edge.get(f"/reconcile?queries={quote(msgspec.json.encode(queries))}", key=key)
    as_json = await edge.ask("POST", "/reconcile", key=key, body=msgspec.json.encode({"queries": queries}))
    assert posted.status == got.status == as_json.status == 200
    assert posted.json == got.json == as_json.json
    assert posted.json["q0"]["result"][0]["match"]


async def test_queries_need_a_key_of_a_plan_that_has_batches(edge: Edge, settings: Settings, key: str) -> None:
    body = form(queries={"q0": SOY_QUERY})
    for head, status in (({}, 401), ({"X-Service-Public-Token": settings.anonymous_token}, 403)):
        asked = {**FORM, **head}
        assert (await edge.ask("POST", "/reconcile", head=asked, body=body, anonymous=False)).status == status
        got = await edge.get(f"/reconcile?{body.decode()}", head=head, anonymous=False)
        assert got.status == status
        assert got.head["Access-Control-Allow-Origin"] == "*"
    nothing = await edge.ask("POST", "/reconcile", key=key, head=FORM, body=b"")
    assert nothing.json["detail"] == "`queries` is required unless `extend` is given."
    other = api_key(settings)
    assert await edge.used(other) == 0
