"""The engine always searches the newest whole index, and says so when it has none."""

import asyncio
import io
import threading
from pathlib import Path
from typing import Any

import pytest

from edge.search import engine as engine_module
from edge.search.engine import SearchEngine
from shared.errors import StoreUnavailable
from shared.search.directory import prune
from shared.search.model import SearchQuery
from shared.telemetry.log import Log
from tests.unit.search.conftest import catalogue
from workers.search.build import build


@pytest.fixture
def engine(tmp_path: Path) -> SearchEngine:
    """An engine that looks for a new index before each search."""
    return _engine(tmp_path, check_seconds=0.0)


def _engine(directory: Path, **bounds: Any) -> SearchEngine:
    return SearchEngine(directory, Log("edge", stream=io.StringIO()), **bounds)


async def test_without_an_index_the_search_is_unavailable(engine: SearchEngine) -> None:
    with pytest.raises(StoreUnavailable):
        await engine.find(SearchQuery(q="soy"))
    assert engine.data_version == 0
    engine.close()


async def test_a_search_waits_while_the_first_index_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = _engine(tmp_path, check_seconds=60.0)
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
    engine.close()


async def test_a_broken_index_is_not_opened_for_each_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = _engine(tmp_path, check_seconds=60.0)
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
    engine.close()


async def test_a_new_index_is_taken_up_whole(engine: SearchEngine, tmp_path: Path) -> None:
    build(catalogue()[:1], tmp_path, 1)
    first = await engine.find(SearchQuery(q="IID-"))
    for version in (2, 3, 4):
        build(catalogue(), tmp_path, version)
    prune(tmp_path)
    second = await engine.find(SearchQuery(q="IID-"))
    assert (first.data_version, first.total) == (1, 1)
    assert (second.data_version, second.total) == (4, len(catalogue()))
    engine.close()


async def test_searches_go_on_in_an_index_that_was_removed(engine: SearchEngine, tmp_path: Path) -> None:
    build(catalogue(), tmp_path, 1)
    assert (await engine.find(SearchQuery(q="soy"))).hits
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert (await engine.find(SearchQuery(q="chocolate"))).hits
    engine.close()


async def test_more_searches_than_can_wait_are_refused_at_once(tmp_path: Path) -> None:
    engine = _engine(tmp_path, pending_max=5)
    build(catalogue(), tmp_path, 1)
    answers = await asyncio.gather(*(engine.find(SearchQuery(q="soy")) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(answer, StoreUnavailable) for answer in answers) == 15
    assert (await engine.find(SearchQuery(q="soy"))).hits
    engine.close()
