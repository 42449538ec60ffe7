"""The engine always searches the newest whole index, and says so when it has none."""

import asyncio
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edge.search import engine as engine_module
from edge.search.engine import SearchEngine
from edge.search.item_search import identifiers_in
from shared.errors import StoreUnavailable
from shared.search.directory import prune
from shared.search.model import SearchQuery
from shared.telemetry.log import Log
from tests.support.search_catalogue import catalogue
from workers.search.build import build


@pytest.fixture
def bounds() -> dict[str, Any]:
    """An engine looks for a new index before each search, unless a test has it otherwise."""
    return {"check_seconds": 0.0}


@pytest.fixture
def engine(tmp_path: Path, bounds: dict[str, Any]) -> Iterator[SearchEngine]:
    made = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()), **bounds)
    yield made
    made.close()


async def test_without_an_index_the_search_is_unavailable(engine: SearchEngine) -> None:
    with pytest.raises(StoreUnavailable):
        await engine.find(SearchQuery(q="soy"))
    assert engine.data_version == 0


@pytest.mark.parametrize("bounds", [{"check_seconds": 60.0}])
async def test_a_search_waits_while_the_first_index_is_opened(
    engine: SearchEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, proceed = threading.Event(), threading.Event()

    class Slow(engine_module.SearchIndex):
        def __init__(self, *given: Any) -> None:
            opening.set()
            assert proceed.wait(30)
            super().__init__(*given)

    monkeypatch.setattr(engine_module, "SearchIndex", Slow)
    build(catalogue(), tmp_path, 1)
    engine.refresh()
    assert await asyncio.to_thread(opening.wait, 30)
    search = asyncio.create_task(engine.find(SearchQuery(q="soy")))
    await asyncio.sleep(0)
    assert not search.done()
    proceed.set()
    assert (await search).hits


@pytest.mark.parametrize("bounds", [{"check_seconds": 60.0}])
async def test_a_broken_index_is_not_opened_for_each_search(
    engine: SearchEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def broken(*given: Any) -> None:
        opened.append(given)
        raise ValueError("broken")

    monkeypatch.setattr(engine_module, "SearchIndex", broken)
    build(catalogue(), tmp_path, 1)
    for _ in range(5):
        with pytest.raises(StoreUnavailable):
            await engine.find(SearchQuery(q="soy"))
    assert len(opened) == 1


async def test_a_new_index_is_taken_up_whole(engine: SearchEngine, tmp_path: Path) -> None:
    build(catalogue()[:1], tmp_path, 1)
    first = await engine.find(SearchQuery(q="IID-"))
    for version in (2, 3, 4):
        build(catalogue(), tmp_path, version)
    prune(tmp_path)
    second = await engine.find(SearchQuery(q="IID-"))
    assert (first.data_version, first.total) == (1, 1)
    assert (second.data_version, second.total) == (4, len(catalogue()))


async def test_searches_go_on_in_an_index_that_was_removed(engine: SearchEngine, tmp_path: Path) -> None:
    build(catalogue(), tmp_path, 1)
    assert (await engine.find(SearchQuery(q="soy"))).hits
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert (await engine.find(SearchQuery(q="chocolate"))).hits


@pytest.mark.parametrize("bounds", [{"pending_max": 5}])
async def test_more_searches_than_can_wait_are_refused_at_once(engine: SearchEngine, tmp_path: Path) -> None:
    build(catalogue(), tmp_path, 1)
    answers = await asyncio.gather(*(engine.find(SearchQuery(q="soy")) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(answer, StoreUnavailable) for answer in answers) == 15
    assert (await engine.find(SearchQuery(q="soy"))).hits


def test_a_query_is_looked_up_as_the_identifiers_that_it_may_be() -> None:
    for q, found in (
        ("4006381333931", {("gtin", "04006381333931"), ("mpn", "4006381333931"), ("sku", "4006381333931")}),
        ("pens 4006381333931 blue fine", {("gtin", "04006381333931")}),
        ("0-306-40615-2", {("gtin", "09780306406157"), ("mpn", "0306406152"), ("sku", "0-306-40615-2")}),
        ("04252614", {("gtin", "00042100005264"), ("mpn", "04252614"), ("sku", "04252614")}),
        (
            "Sony WH-1000XM4",
            {("mpn", "SONYWH1000XM4"), ("sku", "Sony WH-1000XM4"), ("mpn", "WH1000XM4")},
        ),
        ("https://shop.test/p/1?utm_source=x", {("url", "shop.test/p/1")}),
        ("Https://shop.test/p/1", {("url", "shop.test/p/1")}),
        ("ペン ４００６３８１３３３９３１ 青 細", {("gtin", "04006381333931")}),
        ("قلم ٤٠٠٦٣٨١٣٣٣٩٣١ أزرق رفيع", {("gtin", "04006381333931")}),
        ("soy milk", set()),
        ("iphone 5", {("mpn", "IPHONE5"), ("sku", "iphone 5")}),
        ("a4", set()),
        ("iid-0A1B2C3", set()),
        ("a case for the iphone 5", set()),
        ("4006381333932 of a wrong check digit", set()),
    ):
        asked = identifiers_in(q)
        assert {(one.scheme, one.value) for one in asked} == found, q
        assert len(asked) == len(found), q


async def test_closing_ends_what_was_begun_and_cancels_what_waits(engine: SearchEngine, tmp_path: Path) -> None:
    build(catalogue(), tmp_path, 1)
    begun, proceed = threading.Event(), threading.Event()

    def slow(index: engine_module.SearchIndex) -> int:
        begun.set()
        assert proceed.wait(30)
        return index.items

    running = [asyncio.create_task(engine.ask(slow)) for _ in range(3)]
    assert await asyncio.to_thread(begun.wait, 30)
    await asyncio.sleep(0.1)
    closing = asyncio.create_task(asyncio.to_thread(engine.close))
    await asyncio.sleep(0.1)
    proceed.set()
    await closing
    ended = await asyncio.gather(*running, return_exceptions=True)
    assert [type(one) for one in ended] == [int, int, asyncio.CancelledError]
    with pytest.raises(RuntimeError):
        await engine.ask(slow)
