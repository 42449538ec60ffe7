"""The handler turns parameters into a question, and a page into the envelope of lists."""

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from edge.http.context import CONTEXT, Context
from edge.http.lists import CursorSigner
from edge.http.parameters import QUERY
from edge.http.routing import RULE
from edge.search import answers as schemas
from edge.search.answers import Search, SearchAnswers
from edge.search.engine import SearchEngine
from shared.errors import InvalidCursor
from shared.telemetry.log import Log
from tests.unit.search.conftest import catalogue
from workers.search.build import build

BASE = "http://127.0.0.1:8080/v1"


@pytest.fixture
def search(tmp_path: Path) -> Search:
    build(catalogue(), tmp_path, 3)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()))
    return Search(SearchAnswers(engine, CursorSigner("s" * 32), BASE))


async def ask(search: Search, **parameters: Any) -> dict[str, Any]:
    asked = {"limit": 20, "brand": None, "category": None, "product_type": None, "cursor": None, **parameters}
    app = web.Application()
    app[RULE] = {}
    request = make_mocked_request("GET", "/v1/index/search", app=app)
    request[CONTEXT] = Context("request", "charge", "192.0.2.1")
    request[QUERY] = asked
    response = await search.show(request)
    assert isinstance(response, web.Response) and isinstance(response.body, bytes)
    document: dict[str, Any] = msgspec.json.decode(response.body)
    return document


async def test_the_answer_is_as_declared(search: Search) -> None:
    document = await ask(search, q="vitasoy soy", brand="vitasoy")
    assert schemas.SearchList().validate(document) == {}
    assert document["total"] == {"value": document["count"], "relation": "eq", "all_words": 2}
    assert [hit["all_words"] for hit in document["data"]] == [True, True]
    assert document["data_version"] == 3
    hit = document["data"][0]
    assert hit["iid"] == "IID-A0002" or hit["iid"] == "IID-A0001"
    assert hit["links"] == {"self": f"{BASE}/index/lookup/{hit['iid']}"}


async def test_cursors_lead_through_all_hits(search: Search) -> None:
    whole = await ask(search, q="IID-", limit=50)
    seen: list[str] = []
    cursor = None
    while True:
        page = await ask(search, q="IID-", limit=4, cursor=cursor)
        seen += [hit["iid"] for hit in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [hit["iid"] for hit in whole["data"]]


async def test_a_cursor_of_another_question_or_another_shape_is_refused(search: Search) -> None:
    page = await ask(search, q="IID-", limit=4)
    with pytest.raises(InvalidCursor):
        await ask(search, q="IID-A", limit=4, cursor=page["next_cursor"])
    query = {"q": "IID-", "limit": 4, "brand": None, "category": None, "product_type": None}
    for position in ([], ["x", "y", 1, 2], [0.5, "IID-A0001"]):
        with pytest.raises(InvalidCursor):
            await ask(search, q="IID-", limit=4, cursor=CursorSigner("s" * 32).seal("search", query, position))
