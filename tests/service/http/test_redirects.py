"""Redirects, and addresses with and without a slash: a program always gets JSON and the request id."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.servers import Contents
from tests.support.shop import open_shop

SOY, CUSTARD = mint("shop", "1").iid, mint("shop", "2").iid


@pytest.fixture
def contents() -> Contents:
    return open_shop


def _is_a_problem(answer: Answer, status: int, slug: str, location: str) -> bool:
    problem = answer.json
    return (answer.status, problem["status"], problem["type"].rsplit("/", 1)[1], answer.head["Location"]) == (
        status,
        status,
        slug,
        location,
    )


async def test_a_trailing_slash_redirects_with_a_problem_document(edge: Edge) -> None:
    answer = await edge.get("/index/brands/?limit=1", head={"X-Request-Id": "my-request-1"})
    assert _is_a_problem(answer, 308, "permanent-redirect", "/v1/index/brands?limit=1")
    assert answer.head["X-Request-Id"] == "my-request-1"
    assert answer.json["title"] == "Permanent Redirect"


@pytest.mark.parametrize("path", ["/index/lookup", "/index/pricing", "/index/sustainability"])
async def test_a_merged_item_redirects_with_a_problem_document(edge: Edge, settings: Settings, path: str) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, CUSTARD))
    answer = await edge.get(f"{path}/{CUSTARD}", key=api_key(settings))
    assert _is_a_problem(answer, 301, "moved-permanently", f"http://testserver/v1{path.removeprefix('/v1')}/{SOY}")


async def test_the_base_address_answers_alike_with_and_without_its_slash(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    without, with_slash = await edge.get("", key=key), await edge.get("/", key=key)
    assert (without.status, without.json) == (200, with_slash.json)
    refused = await edge.get("", anonymous=False)
    assert (refused.status, refused.json["type"].rsplit("/", 1)[1]) == (401, "missing-credentials")


@pytest.mark.parametrize("accept", ["text/html,application/xhtml+xml", "*/*", "application/json"])
async def test_the_origin_leads_to_the_documentation(edge: Edge, accept: str) -> None:
    url = "http://testserver/"
    head = {"X-Real-IP": "192.0.2.1", "Accept": accept}
    async with edge.session.get(url, headers=head, allow_redirects=False) as response:
        answer = Answer(response.status, response.headers, await response.read())
    edge.check("GET", "-", answer)
    assert _is_a_problem(answer, 302, "found-elsewhere", "/v1/docs")


async def test_no_spelling_of_a_path_is_documented_twice(edge: Edge, tmp_path: Path) -> None:
    assert "/v1/" in edge.document["paths"]
    assert not {"/", "/v1"} & edge.document["paths"].keys()
