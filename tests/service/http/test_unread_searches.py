"""A search that was not asked before is answered on the fast path: the same bytes, charged once, and kept."""

import itertools
from pathlib import Path

import msgspec
import pytest

from shared.errors import StoreUnavailable
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.database import execute
from tests.support.kept_answers import used
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.wire import OTHER, comparable, exchange, head

SOY = mint("shop", "1").iid


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def _ask(edge: Edge, key: str, number: int, query: str, extra: str = "") -> bytes:
    target = f"/v1/index/search?{query}"
    return (await exchange(edge, head(edge, number, target, address="192.0.2.1", credential=key, extra=extra)))[0]


async def _known(edge: Edge, key: str) -> None:
    """Let the edge remember the principal, which the fast path needs."""
    await exchange(edge, head(edge, 1, f"/v1/index/lookup/{SOY}", address="192.0.2.1", credential=key))


async def test_a_cursor_leads_to_the_next_page_on_the_fast_path(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    charges = itertools.count(2)
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await _known(edge, key)
        taken.clear()
        seen, query = [], "q=s&limit=1"
        for _ in range(3):
            document = msgspec.json.decode((await _ask(edge, key, next(charges), query)).partition(b"\r\n\r\n")[2])
            seen += [hit["iid"] for hit in document["data"]]
            if document["next_cursor"] is None:
                break
            query = f"q=s&limit=1&cursor={document['next_cursor']}"
    assert len(seen) == len(set(seen)) > 1
    assert taken == [True] * len(seen)


async def test_an_answer_that_postgresql_might_have_changed_is_given_but_not_kept(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    execute(settings, "INSERT INTO data_versions (version) VALUES (2)")

    async def down(*arguments: object, **named: object) -> None:
        raise StoreUnavailable("database", 5)

    async with running_edge(settings, tmp_path) as edge:
        await _known(edge, key)
        monkeypatch.setattr(edge.resources.database, "fetch", down)
        answers = [
            await _ask(edge, key, 2, "q=milk+4006381333931"),
            await _ask(edge, key, 3, "q=milk+4006381333931", OTHER),
        ]
        assert len(edge.resources.answers) == 0
    assert taken == [False, True, False]
    assert answers[0].startswith(b"HTTP/1.1 200 ")
    assert comparable(answers[0]) == comparable(answers[1])


async def test_with_too_many_searches_waiting_a_first_search_is_503_and_costs_nothing(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await _known(edge, key)
        before = await used(edge, key)
        monkeypatch.setattr(edge.resources.search, "_pending_max", 0)
        answers = [await _ask(edge, key, 2, "q=soy"), await _ask(edge, key, 3, "q=soy", OTHER)]
        assert await used(edge, key) == before
    assert taken == [False, True, False]
    assert answers[0].startswith(b"HTTP/1.1 503 ")
    assert comparable(answers[0]) == comparable(answers[1])
