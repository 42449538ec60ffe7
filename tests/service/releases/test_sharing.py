"""Delta Sharing's answers, line by line."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.releases import cut, released_shop
from tests.support.servers import Contents
from tests.support.shop import load_rows

TABLES = "/delta-sharing/shares/item-index/schemas/releases/tables"
AUGUST = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-08-03,NORTH,10.90,12\n"


def two_releases(settings: Settings, folder: Path) -> None:
    released_shop(settings, folder)
    load_rows(settings, folder, AUGUST, name="august.csv")
    cut(settings)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return two_releases


async def ask(edge: Edge, key: str, path: str, body: Any = None) -> Answer:
    content = json.dumps(body).encode() if body is not None else None
    head = {"Authorization": f"Bearer {key}"}
    return await edge.ask("GET" if body is None else "POST", path, head=head, anonymous=False, body=content)


def lines(answer: Answer) -> list[Any]:
    assert answer.status == 200, answer.body
    return [json.loads(line) for line in answer.body.splitlines()]


def files(answer: Answer) -> list[Any]:
    protocol, metadata, *rest = lines(answer)
    assert protocol == {"protocol": {"minReaderVersion": 1}} and metadata["metaData"]["format"] == {
        "provider": "parquet"
    }
    return rest


async def test_versions(shared_edge: Edge, shared_key: str) -> None:
    newest = (await ask(shared_edge, shared_key, f"{TABLES}/items/version")).head
    assert (newest["Delta-Table-Version"], newest["Cache-Control"]) == ("2", "no-store")
    early = await ask(shared_edge, shared_key, f"{TABLES}/items/version?startingTimestamp=2020-01-01T00:00:00Z")
    assert early.head["Delta-Table-Version"] == "1"
    late = await ask(shared_edge, shared_key, f"{TABLES}/items/version?startingTimestamp=2999-01-01T00:00:00Z")
    assert late.json["type"].endswith("/dataset-not-found")
    reported = lines(await ask(shared_edge, shared_key, f"{TABLES}/items/metadata?version=1"))
    assert reported[1]["metaData"]["version"] == 1
    schema = json.loads(reported[1]["metaData"]["schemaString"])
    types = {field["name"]: field["type"] for field in schema["fields"]}
    assert (types["first_seen_on"], types["alt_names"]["type"], types["brand"]) == ("date", "array", "string")


async def test_a_query_names_files_that_open_without_a_header(shared_edge: Edge, shared_key: str) -> None:
    answer = await ask(shared_edge, shared_key, f"{TABLES}/observations/query", {})
    assert answer.head["Delta-Table-Version"] == "2"
    assert answer.head["Content-Type"].startswith("application/x-ndjson")
    found = [line["file"] for line in files(answer)]
    assert len(found) == 2
    for file in found:
        path = file["url"].removeprefix("http://testserver/v1")
        opened = await shared_edge.get(path, anonymous=False)
        assert (opened.status, len(opened.body)) == (200, file["size"])
        assert json.loads(file["stats"])["numRecords"] in (5, 1)
    assert len(files(await ask(shared_edge, shared_key, f"{TABLES}/observations/query", {"version": 1}))) == 1
    assert len(files(await ask(shared_edge, shared_key, f"{TABLES}/observations/query", {"limitHint": 5}))) == 1
    assert len(files(await ask(shared_edge, shared_key, f"{TABLES}/observations/query", {"limitHint": 6}))) == 2
    assert len(files(await ask(shared_edge, shared_key, f"{TABLES}/impacts/query", {"limitHint": 6}))) == 0


def comparison(op: str, column: str, value: Any, type: str) -> dict[str, Any]:
    return {
        "op": op,
        "children": [
            {"op": "column", "name": column, "valueType": type},
            {"op": "literal", "value": value, "valueType": type},
        ],
    }


BOTH = [comparison("equal", "currency", "HKD", "string"), comparison("lessThan", "price_minor", "900", "long")]
# What hints mean, of whatever form, is tested in tests/unit/edge/bulk/test_delta_sharing_predicates.py.
HINTS: list[tuple[dict[str, Any], list[str]]] = [
    ({"predicateHints": ["day >= '2026-08-01'"]}, ["2026-08"]),
    ({"predicateHints": ["day = '2026-07-02'", "price_minor > 5"]}, ["2026-07"]),
    ({"predicateHints": ["day >= '2027-01-01'"]}, []),
    ({"jsonPredicateHints": json.dumps(comparison("greaterThanOrEqual", "day", "2026-08-01", "date"))}, ["2026-08"]),
    ({"jsonPredicateHints": json.dumps({"op": "and", "children": BOTH})}, ["2026-07"]),
    ({"jsonPredicateHints": "{broken"}, ["2026-07", "2026-08"]),
    ({"predicateHints": ["day >= '2026-07-01'"], "limitHint": 1}, ["2026-07", "2026-08"]),
]


async def test_hints_spare_files_and_never_one_that_fits(shared_edge: Edge, shared_key: str) -> None:
    for body, months in HINTS:
        found = files(await ask(shared_edge, shared_key, f"{TABLES}/observations/query", body))
        assert [line["file"]["url"].rpartition("/")[2][:7] for line in found] == months, body


async def test_changes_are_rows_with_their_reasons(edge: Edge, settings: Settings, key: str) -> None:
    answer = await ask(edge, key, f"{TABLES}/observations/changes?startingVersion=2")
    schema = json.loads(lines(answer)[1]["metaData"]["schemaString"])["fields"]
    assert [field["name"] for field in schema][-2:] == ["unit_price_per", "_change_reason"]
    [line] = files(answer)
    assert line["cdf"]["version"] == 2
    opened = await edge.get(line["cdf"]["url"].removeprefix("http://testserver/v1"), anonymous=False)
    [row] = pq.read_table(io.BytesIO(opened.body)).to_pylist()
    assert (row["channel"], row["_change_type"], row["_change_reason"]) == ("NORTH", "insert", "source")
    assert files(await ask(edge, key, f"{TABLES}/merged/changes?startingVersion=2")) == []
    execute(settings, "DELETE FROM releases WHERE data_version = 2 AND dataset = 'observations_changes'")
    older = files(await ask(edge, key, f"{TABLES}/observations/changes?startingVersion=2"))
    assert [(kind, line[kind]["version"]) for line in older for kind in line] == [("add", 2)]


async def test_changes_of_which_no_rows_are_known_are_files_that_came_and_went(
    shared_edge: Edge, shared_key: str
) -> None:
    """There is nothing before the first release that it could be compared with."""
    both = files(await ask(shared_edge, shared_key, f"{TABLES}/items/changes?startingVersion=1&endingVersion=2"))
    kinds = [(kind, line[kind]["version"]) for line in both for kind in line]
    assert kinds == [("add", 1), ("remove", 2), ("add", 2)]
    gone = next(line["remove"] for line in both if "remove" in line)
    assert (await shared_edge.get(gone["url"].removeprefix("http://testserver/v1"), anonymous=False)).status == 200
    refused = await ask(shared_edge, shared_key, f"{TABLES}/items/changes?startingVersion=9")
    assert refused.json["errors"][0]["parameter"] == "startingVersion"
    assert (await ask(shared_edge, shared_key, f"{TABLES}/items/changes")).status == 400


REFUSED = [
    ("/delta-sharing/shares/item-index/schemas/other/tables", None, 404),
    (f"{TABLES}/items/query", {"version": 1, "timestamp": "2026-01-01T00:00:00Z"}, 400),
]


async def test_an_object_that_does_not_exist_or_is_not_allowed_is_refused(shared_edge: Edge, shared_key: str) -> None:
    for path, body, status in REFUSED:
        assert (await ask(shared_edge, shared_key, path, body)).status == status, (path, body)


async def test_names_are_the_same_in_every_case(shared_edge: Edge, shared_key: str) -> None:
    """By the protocol; engines that keep names in small or capital letters ask for them so."""
    for share, schema, table in (("ITEM-INDEX", "RELEASES", "ITEMS"), ("Item-Index", "Releases", "Items")):
        tables = f"/delta-sharing/shares/{share}/schemas/{schema}/tables"
        assert (await ask(shared_edge, shared_key, f"{tables}/{table}/version")).head["Delta-Table-Version"] == "2"
        assert len(files(await ask(shared_edge, shared_key, f"{tables}/{table}/query", {}))) == 1
        named = [one["name"] for one in (await ask(shared_edge, shared_key, tables)).json["items"]]
        assert "items" in named
        assert (await ask(shared_edge, shared_key, f"/delta-sharing/shares/{share}")).json["share"][
            "name"
        ] == "item-index"
        for path in (f"/delta-sharing/shares/{share}/schemas", f"/delta-sharing/shares/{share}/all-tables"):
            assert (await ask(shared_edge, shared_key, path)).status == 200, path


async def test_earlier_clients_ask_for_the_version_by_head(shared_edge: Edge, shared_key: str) -> None:
    head = {"Authorization": f"Bearer {shared_key}"}
    answer = await shared_edge.ask("HEAD", f"{TABLES}/items", head=head, anonymous=False, check=False)
    assert (answer.status, answer.head["Delta-Table-Version"]) == (200, "2")


async def test_refusals_have_the_members_that_the_protocols_clients_read(shared_edge: Edge, shared_key: str) -> None:
    wrong = shared_key[:-1] + ("y" if shared_key.endswith("x") else "x")
    for path, key, status, code in (
        (f"{TABLES}/none/version", shared_key, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("/delta-sharing/nowhere", shared_key, 404, "RESOURCE_DOES_NOT_EXIST"),
        (f"{TABLES}/items/changes", shared_key, 400, "INVALID_PARAMETER_VALUE"),
        (f"{TABLES}/items", shared_key, 405, "UNSUPPORTED_OPERATION"),
        ("/delta-sharing/shares", api_key(shared_edge.settings, "brand"), 403, "PERMISSION_DENIED"),
        ("/delta-sharing/shares", wrong, 401, "UNAUTHENTICATED"),
    ):
        head = {"Authorization": f"Bearer {key}"}
        refused = await shared_edge.ask("GET", path, head=head, anonymous=False, check=False)
        assert (refused.status, refused.json["errorCode"]) == (status, code), path
        assert refused.json["message"] == refused.json["detail"]


async def test_a_key_is_a_bearer_token_here_and_nowhere_else(shared_edge: Edge, shared_key: str) -> None:
    profile = await ask(shared_edge, shared_key, "/delta-sharing/profile")
    assert profile.json == {
        "shareCredentialsVersion": 1,
        "endpoint": "http://testserver/v1/delta-sharing",
        "bearerToken": shared_key,
    }
    assert (await shared_edge.get("/delta-sharing/profile", key=shared_key)).json == profile.json
    assert (await ask(shared_edge, shared_key, "/index/datasets")).status == 401
    assert (await ask(shared_edge, api_key(shared_edge.settings, "brand"), "/delta-sharing/shares")).status == 403
    wrong = await ask(
        shared_edge, shared_key[:-1] + ("y" if shared_key.endswith("x") else "x"), "/delta-sharing/shares"
    )
    assert wrong.status == 401 and "Bearer" in wrong.head["WWW-Authenticate"]
    assert (await shared_edge.get("/delta-sharing/shares")).status == 403
