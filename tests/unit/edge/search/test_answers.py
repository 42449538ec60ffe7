"""The handler turns parameters into a question, and a page into the envelope of lists."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from edge.http.context import CONTEXT, Context
from edge.http.cursors import CursorSigner
from edge.http.routing import register
from edge.http.validation import QUERY
from edge.index.record import ItemRecord
from edge.search.answers import Search, SearchAnswers
from edge.search.engine import SearchEngine
from edge.search.schemas import SearchParameters
from shared.errors import InvalidCursor
from shared.telemetry.log import Log
from tests.support.search_catalogue import catalogue
from workers.search.build import build

BASE = "http://127.0.0.1:8080/v1"


async def no_records(iids: Sequence[str]) -> dict[str, ItemRecord]:
    return {}


@pytest.fixture
def search(tmp_path: Path) -> Search:
    build(catalogue(), tmp_path, 3)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()))
    return Search(SearchAnswers(engine, no_records, CursorSigner("s" * 32), BASE))


async def ask(search: Search, **parameters: Any) -> dict[str, Any]:
    asked = SearchParameters().load({"q": parameters["q"]}) | parameters
    app = web.Application()
    register(app, ())
    request = make_mocked_request("GET", "/v1/index/search", app=app)
    request[CONTEXT] = Context("request", "charge", "192.0.2.1")
    request[QUERY] = asked
    response = await search.show(request)
    assert isinstance(response, web.Response) and isinstance(response.body, bytes)
    document: dict[str, Any] = msgspec.json.decode(response.body)
    return document


async def test_a_cursor_of_another_question_or_another_shape_is_refused(search: Search) -> None:
    page = await ask(search, q="IID-", limit=4)
    with pytest.raises(InvalidCursor):
        await ask(search, q="IID-A", limit=4, cursor=page["next_cursor"])
    query = {"q": "IID-", "limit": 4, "brand": None, "category": None, "product_type": None}
    for position in ([], ["x", "y", 1, 2], [0.5, "IID-A0001"]):
        with pytest.raises(InvalidCursor):
            await ask(search, q="IID-", limit=4, cursor=CursorSigner("s" * 32).seal("search", query, position))
