"""Identifiers in batches and in searches."""

import io
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from edge.composition import Resources
from edge.index.identifiers import RequestedIdentifier
from edge.search.engine import SearchEngine
from edge.search.item_search import ItemSearch
from shared.search.model import SearchQuery
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.http.test_resolve import EIGHT, FIVE, FOUR, NINE, ONE, THREE, TWO, fill
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents


@pytest.fixture(scope="module")
def contents() -> Contents:
    return fill


async def test_a_batch_gives_each_identifier_its_own_status(shared_edge: Edge, shared_key: str) -> None:
    given = [
        {"gtin": "042100005264"},
        {"upc": "04252614"},
        {"gtin": "4006381333931"},
        {"gtin": "4006381333932"},
        {"gtin": "036000291452"},
        {"mpn": "x"},
        {},
        {"sku": "A-3", "source": "north"},
    ]
    answer = await shared_edge.ask(
        "POST", "/index/resolve", key=shared_key, body=msgspec.json.encode({"identifiers": given})
    )
    assert answer.status == 200
    entries = answer.json["data"]
    assert [(one["status"], one["problem"]) for one in entries] == [
        (200, None),
        (200, None),
        (300, "several-items"),
        (400, "invalid-identifier"),
        (404, "identifier-not-found"),
        (400, "missing-parameter"),
        (400, "missing-parameter"),
        (200, None),
    ]
    assert [one["record"]["iid"] if one["record"] else None for one in entries][::7] == [TWO, THREE]
    assert entries[0]["identifier"] == entries[1]["identifier"] == {"scheme": "gtin", "value": "00042100005264"}
    assert sorted(one["iid"] for one in entries[2]["candidates"]) == sorted([ONE, NINE])
    assert entries[3]["detail"] == "`gtin`: `4006381333932` has a wrong check digit; the correct one is 1."
    single = await shared_edge.get("/index/lookup/" + TWO, key=shared_key)
    assert entries[0]["record"] == single.json
    assert (await shared_edge.get("/quota", key=shared_key)).json["limits"][0]["used"] == 2  # the batch 1, the lookup 1


async def test_an_item_that_was_merged_since_it_was_resolved_leads_to_its_survivor(
    edge: Edge, settings: Settings, key: str
) -> None:
    requested = RequestedIdentifier("gtin", "00042100005264")
    assert (await edge.resources.resolutions.find(requested.key)).iids == (TWO,)
    execute(settings, "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", ONE, TWO)
    body = msgspec.json.encode({"identifiers": [{"gtin": "042100005264"}]})
    [entry] = (await edge.ask("POST", "/index/resolve", key=key, body=body)).json["data"]
    assert (entry["status"], entry["record"]["iid"]) == (200, ONE)


async def test_a_batch_costs_a_unit_for_ten_and_is_bounded_by_the_plan(shared_edge: Edge, shared_key: str) -> None:
    def body(count: int) -> bytes:
        return msgspec.json.encode({"identifiers": [{"gtin": "96385074"}] * count})

    assert (await shared_edge.ask("POST", "/index/resolve", key=shared_key, body=body(11))).status == 200
    assert (await shared_edge.get("/quota", key=shared_key)).json["limits"][0]["used"] == 2
    dry = await shared_edge.ask("POST", "/index/resolve?dry_run=true", key=shared_key, body=body(11))
    assert (dry.json["cost_units"], dry.json["data"]) == (2, [])
    over = await shared_edge.ask("POST", "/index/resolve", key=shared_key, body=body(101))
    detail = "`identifiers`: must have at most 100 entries on the Brand plan, not 101."
    assert (over.status, over.json["detail"]) == (400, detail)
    assert (await shared_edge.ask("POST", "/index/resolve", body=body(1))).status == 403
    assert (await shared_edge.get("/quota", key=shared_key)).json["limits"][0]["used"] == 2


async def test_a_search_for_an_identifier_finds_its_items_first(shared_edge: Edge, shared_key: str) -> None:
    for q, first in (
        ("042100005264", [TWO]),
        ("9780306406157", [THREE]),
        ("0-306-40615-2", [THREE]),
        ("juice 96385074", [FIVE]),
        ("WH-1000XM4", [ONE, NINE]),
        ("sony wh1000xm4", [ONE, NINE]),
        ("https://north.test/p/1", [ONE]),
        ("2012345000001", [FOUR, EIGHT]),
    ):
        page = (await shared_edge.get(f"/index/search?q={quote(q)}", key=shared_key)).json
        found = page["data"][: len(first)]
        assert [hit["iid"] for hit in found] == sorted(first), q
        assert all(hit["score"] == 1 and hit["all_words"] and "identifier" in hit["matched_on"] for hit in found), q
        assert page["total"] == {"value": page["count"], "relation": "eq", "all_words": page["total"]["all_words"]}, q
        assert len({hit["iid"] for hit in page["data"]}) == page["count"], q


async def test_pages_of_a_search_for_an_identifier_neither_repeat_nor_omit_items(
    shared_edge: Edge, shared_key: str
) -> None:
    whole = (await shared_edge.get("/index/search?q=juice%2096385074", key=shared_key)).json
    seen, cursor = [], ""
    for _ in range(whole["count"]):
        page = (await shared_edge.get(f"/index/search?q=juice%2096385074&limit=1{cursor}", key=shared_key)).json
        seen += [hit["iid"] for hit in page["data"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [hit["iid"] for hit in whole["data"]] == [FIVE, TWO]
    assert page["next_cursor"] is None


async def test_filters_hold_for_items_of_an_identifier_too(shared_edge: Edge, shared_key: str) -> None:
    assert (await shared_edge.get("/index/search?q=96385074&brand=vita", key=shared_key)).json["count"] == 1
    assert (await shared_edge.get("/index/search?q=96385074&brand=maison", key=shared_key)).json["count"] == 0


async def test_a_search_works_without_the_store_of_identifiers(settings: Settings, tmp_path: Path) -> None:
    without = replace(settings, edge_database_url="postgresql://unknown@127.0.0.1:1/none")
    search = SearchEngine(settings.search_dir, Log("edge", stream=io.StringIO()))
    resources = Resources(without)
    await resources.database.open()
    found = await ItemSearch(search, resources.resolutions, resources.version).find(SearchQuery(q="juice 96385074"))
    await resources.database.close()
    assert [hit.item.iid for hit in found.hits] == [TWO]
    search.close()
