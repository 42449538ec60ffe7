"""Tables of weights: uploaded as versions, refused with each fault named, and read by their own organization alone."""

import json
from typing import Any

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import load_rows

MONTH = "price_reference=2026-07-01"
COICOP = """code,parent,weight
CP01,,400
drinks.soy-milk,CP01,300
desserts,CP01,100.50
"""


@pytest.fixture(scope="module")
def contents() -> Contents:
    return load_rows


async def put(edge: Edge, key: str, body: Any, name: str = "cpi", query: str = MONTH) -> Answer:
    """Upload a table: as CSV if it is text, else the rows of a JSON object."""
    if isinstance(body, str):
        head, sent = {"Content-Type": "text/csv"}, body.encode()
    else:
        head, sent = {}, json.dumps({"rows": body}).encode()
    return await edge.ask("PUT", f"/weights/{name}?{query}", key=key, head=head, body=sent)


def rows(*listed: tuple[str, str, str]) -> list[dict[str, str]]:
    return [dict(zip(("code", "parent", "weight"), row, strict=True)) for row in listed]


async def test_each_upload_is_a_version_that_stays(edge: Edge, key: str) -> None:
    first = await put(edge, key, COICOP.replace("400", "400.5"))
    assert first.status == 201, first
    assert (first.json["version"], first.json["row_count"], first.json["price_reference"]) == (1, 3, "2026-07-01")
    same = await put(
        edge, key, rows(("CP01", "", "400.50"), ("desserts", "CP01", "100.5"), ("drinks.soy-milk", "CP01", "300.0"))
    )
    assert (same.status, same.json) == (200, first.json), "the same numbers in another order and spelling are the same"
    second = await put(edge, key, COICOP.replace("400", "401"))
    assert (second.status, second.json["version"]) == (201, 2)
    assert second.json["sha256"] != first.json["sha256"]
    other = await put(edge, key, COICOP.replace("400", "401"), query="price_reference=2026-06-01")
    assert other.json["version"] == 3 and other.json["sha256"] != second.json["sha256"]
    listed = (await edge.get("/weights", key=key)).json
    assert [(one["name"], one["version"]) for one in listed["data"]] == [("cpi", 3), ("cpi", 2), ("cpi", 1)]
    read = (await edge.get("/weights/cpi?version=1", key=key)).json
    assert read["rows"] == [
        {"code": "CP01", "parent": None, "weight": "400.5"},
        {"code": "desserts", "parent": "CP01", "weight": "100.5"},
        {"code": "drinks.soy-milk", "parent": "CP01", "weight": "300"},
    ]
    assert (await edge.get("/weights/cpi", key=key)).json["version"] == 3


async def test_parents_follow_from_dots_and_a_root_is_added(edge: Edge, key: str) -> None:
    made = await put(edge, key, "code,weight\ndrinks,\ndrinks.soy-milk,2\ndesserts.custard,1\n")
    assert made.status == 201, made
    assert (await edge.get("/weights/cpi", key=key)).json["rows"] == [
        {"code": "total", "parent": None, "weight": "3"},
        {"code": "desserts.custard", "parent": "total", "weight": "1"},
        {"code": "drinks", "parent": "total", "weight": "2"},
        {"code": "drinks.soy-milk", "parent": "drinks", "weight": "2"},
    ]


@pytest.mark.parametrize(
    ("body", "parameter", "detail"),
    [
        (
            "code,weight\ndrinks,1\n\nnosuch,2\n",
            "rows.1.code",
            "is not a known category or item, and no row has it (line 4)",
        ),
        ("code,weight\nIID-00000-00000-00000,2\n", "rows.0.code", "is not a known category or item, and no (line 2)"),
        ("code,weight\ndrinks,-1\n", "rows.0.weight", "above zero, such as 12.5 (line 2)"),
        ("code,weight\ndrinks,NaN\n", "rows.0.weight", "above zero"),
        ("code,weight\ndrinks,inf\n", "rows.0.weight", "above zero"),
        ("code,weight\ndrinks,0\n", "rows.0.weight", "above zero"),
        ("code,weight\ndrinks,1e3\n", "rows.0.weight", "above zero"),
        ("code,weight\ndrinks,\n", "rows.0.weight", "is required"),
        ("code,weight\ndrinks,1\ndrinks,2\n", "rows.1.code", "is given twice, first in line 2"),
        ("code,parent,weight\na,,\nb,,\ndrinks,a,1\ndesserts,b,1\ndrinks,b,1\n", "rows.4.code", "has two parents"),
        ("code,parent,weight\na,b,\nb,a,\ndrinks,,1\n", "rows.0.parent", "makes a cycle"),
        ("code,parent,weight\ndrinks,drinks,1\n", "rows.0.parent", "makes a cycle"),
        ("code,parent,weight\ndrinks,food,1\n", "rows.0.parent", "is the code of no row"),
        (COICOP, "rows.0.weight", "is below the sum of its 2 children, 400.50"),
        ("code,parent,weight\na,,\ndrinks,,1\ndrinks.soy-milk,a,1\n", "rows.2.code", "is part of the category drinks"),
        (
            "code,parent,weight\ntotal,,\ndrinks,total,1\ndesserts,,1\n",
            "rows.0.code",
            "must be the parent of all other",
        ),
        ("code;weight\ndrinks;1\n", "body", "must begin with the header code,parent,weight"),
        ("code,weight\ndrinks,1,2\n", "body", "has 3 cells in a row, and 2 in the header (line 2)"),
        ('code,weight\n"drinks,1\n', "body", "is no CSV"),
        ("code,weight\n", "rows", "must have 1 to 1,000 rows"),
        ([{"code": "drinks", "weight": 1}], "rows.0.weight", "must be a string"),
        ([{"code": "nosuch", "weight": "1", "line": 7}], "rows.0.code", "(line 7)"),
        ([{"code": "drinks", "weight": "1", "share": "1"}], "rows.0.share", "is unknown"),
    ],
)
async def test_a_fault_is_named_with_its_row(
    shared_edge: Edge, shared_key: str, body: Any, parameter: str, detail: str
) -> None:
    refused = await put(shared_edge, shared_key, body)
    assert refused.status == 400, refused
    found = {fault["parameter"]: fault["detail"] for fault in refused.json["errors"]}
    assert parameter in found, found
    assert all(part in found[parameter] for part in detail.split(" (")), found
    assert (await shared_edge.get("/weights", key=shared_key)).json["data"] == []


async def test_a_row_may_be_an_item_and_two_that_are_one_item_are_refused(
    edge: Edge, settings: Settings, key: str
) -> None:
    milk, drink = mint("shop", "1"), mint("shop", "3")
    table = f"code,weight\n{milk.iid},2\n{drink.iid},1\ndesserts,1\n"
    assert (await put(edge, key, table)).status == 201
    assert {row["code"] for row in (await edge.get("/weights/cpi", key=key)).json["rows"]} >= {milk.iid, drink.iid}
    execute(settings, "INSERT INTO inactive_items (item_id, owner_id) VALUES ($1, $2)", drink.key, milk.key)
    refused = await put(edge, key, table, name="merged")
    [fault] = refused.json["errors"]
    assert (fault["parameter"], fault["detail"]) == ("rows.1.code", f"is the same item as {milk.iid} (line 2) (line 3)")
    execute(settings, "UPDATE inactive_items SET owner_id = NULL")
    [fault] = (await put(edge, key, table, name="withdrawn")).json["errors"]
    assert (fault["parameter"], fault["value"]) == ("rows.1.code", drink.iid)


async def test_other_bodies_names_and_periods_are_refused(shared_edge: Edge, shared_key: str) -> None:
    edge, key = shared_edge, shared_key
    assert (await put(edge, key, COICOP, name="Cpi")).status == 400
    assert (await put(edge, key, COICOP, query="")).status == 400
    assert (await put(edge, key, COICOP, query="price_reference=2026-07")).status == 400
    body = b"a=b"
    form = await edge.ask("PUT", f"/weights/cpi?{MONTH}", key=key, head={"Content-Type": "text/plain"}, body=body)
    assert (form.status, form.json["detail"]) == (415, "Send the body as application/json or text/csv.")
    head = {"Content-Type": "text/csv"}
    wrong = await edge.ask("PUT", f"/weights/cpi?{MONTH}", key=key, head=head, body=b"code,weight\n\xff,1\n")
    assert (wrong.status, wrong.json["errors"][0]["detail"]) == (400, "must be UTF-8")
    empty = await edge.ask("PUT", f"/weights/cpi?{MONTH}", key=key, head=head, body=b"")
    assert empty.json["errors"][0]["detail"].startswith("must begin with the header"), empty
    long = await put(edge, key, "code,weight\n" + "x" * 270_000)
    assert long.status == 413


async def test_no_other_organization_reads_or_deletes_a_table(edge: Edge, settings: Settings, key: str) -> None:
    other = api_key(settings)
    await put(edge, key, "code,weight\ndrinks,1\n")
    for method in ("GET", "DELETE"):
        refused = await edge.ask(method, "/weights/cpi", key=other)
        assert (refused.status, refused.json["type"].rpartition("/")[2]) == (404, "weights-not-found")
    assert (await edge.get("/weights", key=other)).json["data"] == []
    own = await put(edge, other, "code,weight\ndesserts,1\n")
    assert own.json["version"] == 1, "versions are counted for each organization"
    assert (await edge.get("/weights/cpi", key=key)).json["rows"][0]["code"] == "drinks"
    assert (await edge.get("/weights")).status == 403, "the anonymous token has no weights"


async def test_a_deleted_table_is_gone_and_its_numbers_are_not_used_again(
    edge: Edge, settings: Settings, key: str
) -> None:
    await put(edge, key, "code,weight\ndrinks,1\n")
    assert (await edge.ask("DELETE", "/weights/cpi", key=key)).status == 204
    assert (await edge.get("/weights/cpi", key=key)).status == 404
    assert (await edge.ask("DELETE", "/weights/cpi", key=key)).status == 404
    again = await put(edge, key, "code,weight\ndrinks,1\n")
    assert (again.status, again.json["version"]) == (201, 2)
    assert execute(settings, "SELECT act, subject FROM audit WHERE act LIKE 'weights.%' ORDER BY id") == [
        ("weights.uploaded", "cpi@1"),
        ("weights.deleted", "cpi"),
        ("weights.uploaded", "cpi@2"),
    ]


async def test_versions_are_limited(edge: Edge, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edge.analytics.weights.VERSIONS_MAX", 2)
    for weight, status in (("1", 201), ("2", 201), ("2", 200), ("3", 409)):
        made = await put(edge, key, f"code,weight\ndrinks,{weight}\ndesserts,1\n")
        assert made.status == status
