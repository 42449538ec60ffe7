"""A batch of the longest identifiers that the plan allows is answered; what is longer than the body's bound is not read."""

import msgspec
import pytest

from edge.http.routing import BODY_BYTES_MAX, LISTS_BODY_BYTES_MAX
from shared.index.iid import IID_CHARACTERS_MAX
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.servers import Contents
from tests.support.shop import open_shop

IIDS = [f"IID-{number:016}-{'A' * 16}-{'B' * 16}-{'C' * 16}-{'D' * 8}" for number in range(1_000)]


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


@pytest.fixture
def institutional(shared_edge: Edge) -> str:
    return api_key(shared_edge.settings, "institutional")


async def post(edge: Edge, key: str, path: str, body: bytes) -> Answer:
    return await edge.ask("POST", path, key=key, body=body)


async def test_a_thousand_iids_of_eighty_characters_are_looked_up(shared_edge: Edge, institutional: str) -> None:
    assert {len(iid) for iid in IIDS} == {IID_CHARACTERS_MAX}
    body = msgspec.json.encode({"iids": IIDS})
    assert BODY_BYTES_MAX < len(body) < LISTS_BODY_BYTES_MAX
    answer = await post(shared_edge, institutional, "/index/lookup", body)
    assert answer.status == 200
    assert [(one["iid"], one["status"]) for one in answer.json["data"]] == [(iid, 404) for iid in IIDS]


async def test_a_thousand_identifiers_of_eighty_characters_are_resolved(shared_edge: Edge, institutional: str) -> None:
    given = [{"sku": f"{number:080}", "source": "s" * 63} for number in range(500)]
    given += [{"mpn": f"{number:080}", "brand": "b" * 80} for number in range(500)]
    answer = await post(shared_edge, institutional, "/index/resolve", msgspec.json.encode({"identifiers": given}))
    assert (answer.status, answer.json["count"]) == (200, 1_000)
    assert {one["status"] for one in answer.json["data"]} <= {400, 404}  # no such brand, no such number


async def test_a_longer_body_is_refused(shared_edge: Edge, institutional: str) -> None:
    for path in ("/index/lookup", "/index/resolve", "/index/exports"):
        answer = await post(shared_edge, institutional, path, b" " * (LISTS_BODY_BYTES_MAX + 1))
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (413, "content-too-large"), path
    answer = await post(shared_edge, institutional, "/watches", b" " * (BODY_BYTES_MAX + 1))
    assert answer.status == 413


async def test_a_stranger_is_refused_before_the_body_is_read(shared_edge: Edge) -> None:
    answer = await shared_edge.ask("POST", "/index/lookup", body=b" " * (LISTS_BODY_BYTES_MAX + 1))
    assert answer.status == 403
