"""Pages never overlap and never skip."""

import io
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge.search.engine import SearchEngine
from shared.errors import CursorExpired, StoreUnavailable
from shared.search import layout, paging
from shared.search.directory import prune
from shared.search.index import SearchIndex
from shared.search.model import Hit, SearchQuery
from shared.search.paging import find
from shared.telemetry.log import Log
from tests.assurance.perf.search_sample import documents
from tests.support.search_catalogue import opened
from workers.search.build import build

ITEMS = 1_000

QUESTIONS = [
    "classic",
    "c",
    "classic shirt",
    "shirt cl",
    "wooden clasic shirts",
    "IID-",
    "IID-00000",
    "soft x9",
    "blue zzzz red",
]


@pytest.fixture(scope="module")
def postings(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """An index without common words."""
    return opened(list(documents(ITEMS)), tmp_path_factory.mktemp("postings"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """The same one with nearly every word a common one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "COMMON_DOCUMENTS_MIN", 20)
        return opened(list(documents(ITEMS)), tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module", params=["postings", "rows"])
def many(request: pytest.FixtureRequest) -> SearchIndex:
    """Each of the two."""
    index: SearchIndex = request.getfixturevalue(request.param)
    return index


def walk(index: SearchIndex, q: str, limit: int, pages: int) -> list[Hit]:
    hits: list[Hit] = []
    after = None
    for _ in range(pages):
        page = find(index, SearchQuery(q=q, limit=limit, after=after))
        hits += page.hits
        after = page.next
        if after is None:
            break
    return hits


@pytest.mark.parametrize("first", [(), ("IID-0000007-BENCH-00007",)], ids=["words", "identifier"])
@pytest.mark.parametrize("q", [*QUESTIONS, "wooden towel", "silk shirt blue"])
def test_totals_are_those_of_the_longest_page_and_the_last_page_says_that_it_is_the_last(
    many: SearchIndex, q: str, first: tuple[str, ...]
) -> None:
    """Also where items with all words fill the page: those with some of them are only counted then."""
    longest = find(many, SearchQuery(q=q, limit=50, first=first))
    for limit in range(1, 50):
        page = find(many, SearchQuery(q=q, limit=limit, first=first))
        assert page.hits == longest.hits[:limit]
        assert (page.total, page.all_words, page.exact) == (longest.total, longest.all_words, longest.exact)
        assert (page.next is None) == (longest.next is None and limit >= len(longest.hits))


@pytest.mark.parametrize("q", QUESTIONS)
def test_all_pages_together_are_all_hits_each_once_and_in_order(many: SearchIndex, q: str) -> None:
    hits = walk(many, q, limit=50, pages=1_000)
    keys = [(-hit.score, hit.item.iid) for hit in hits]
    assert keys == sorted(keys)
    assert len({hit.item.iid for hit in hits}) == len(hits)
    page = find(many, SearchQuery(q=q, limit=50))
    assert len(hits) == page.total if page.exact else len(hits) >= page.total


@given(q=st.sampled_from(QUESTIONS), limit=st.integers(1, 50))
@settings(max_examples=25)
def test_the_size_of_pages_does_not_change_the_order(many: SearchIndex, q: str, limit: int) -> None:
    small = walk(many, q, limit=limit, pages=8)
    large = walk(many, q, limit=50, pages=-(-8 * limit // 50))
    assert [hit.item.iid for hit in small] == [hit.item.iid for hit in large[: len(small)]]


def test_a_list_of_iids_continues_in_a_newer_index_and_a_ranking_does_not(tmp_path: Path) -> None:
    whole = list(documents(400))
    before = opened(whole, tmp_path, 1)
    after = opened(whole[:200] + whole[201:], tmp_path, 2)
    first = find(before, SearchQuery(q="IID-", limit=200))
    second = find(after, SearchQuery(q="IID-", limit=200, after=first.next))
    assert [hit.item.iid for hit in second.hits] == [document.item.iid for document in whole[201:]]
    assert (first.total, second.total) == (400, 399)
    shown = find(before, SearchQuery(q="IID-", limit=20, category="clothing"))
    others = find(after, SearchQuery(q="IID-", limit=20, category="clothing", after=shown.next))
    clothes = [document for document in whole if document.item.category and document.item.category.code[:3] == "clo"]
    assert (shown.total, others.total) == (len(clothes), len(clothes) - (whole[200] in clothes))
    first = find(before, SearchQuery(q="classic", limit=20))
    assert first.next is not None
    with pytest.raises(CursorExpired):
        find(after, SearchQuery(q="classic", limit=20, after=first.next))


def test_a_ranking_does_not_continue_behind_other_items_of_an_identifier(postings: SearchIndex) -> None:
    whole = find(postings, SearchQuery(q="classic", limit=20))
    first = find(postings, SearchQuery(q="classic", limit=20, first=(whole.hits[3].item.iid,)))
    with pytest.raises(CursorExpired):
        find(postings, SearchQuery(q="classic", limit=20, after=first.next))
    second = find(postings, SearchQuery(q="classic", limit=20, after=first.next, first=(whole.hits[3].item.iid,)))
    assert {hit.item.iid for hit in first.hits}.isdisjoint(hit.item.iid for hit in second.hits)


async def read_all(engine: SearchEngine, q: str, between: Callable[[int], object]) -> list[str]:
    """Return the items of all pages, after each of which something happens."""
    found: list[str] = []
    after = None
    for number in range(1_000):
        page = await engine.find(SearchQuery(q=q, limit=7, after=after))
        found += [hit.item.iid for hit in page.hits]
        after = page.next
        if after is None:
            return found
        between(number)
    raise AssertionError("it has no end")


async def test_loads_between_pages_neither_repeat_nor_skip_an_item(tmp_path: Path) -> None:
    whole = list(documents(400))
    build(whole, tmp_path, 1)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()), check_seconds=0.0)
    still = await read_all(engine, "classic", lambda page: None)
    assert len(still) == len(set(still)) > 50

    def load(page: int) -> None:
        if page < 3:
            build(whole[: 100 * (page + 1)] + whole[100 * (page + 1) + 20 :], tmp_path, page + 2)
            prune(tmp_path)

    moved = await read_all(engine, "classic", load)
    assert moved == still
    assert engine.data_version == 4
    engine.close()


async def test_a_cursor_lives_until_the_fifth_load_however_often_updates_are_joined(tmp_path: Path) -> None:
    whole = list(documents(400))
    build(whole, tmp_path, 1)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()), check_seconds=0.0)
    first = await engine.find(SearchQuery(q="classic", limit=7))
    for version in range(2, 6):
        for _ in range(2):  # the load, and the joining of its updates
            build(whole, tmp_path, version)
            assert (await engine.find(SearchQuery(q="classic", limit=7))).data_version == version
        second = await engine.find(SearchQuery(q="classic", limit=7, after=first.next))
        assert second.data_version == 1
    build(whole, tmp_path, 6)
    assert (await engine.find(SearchQuery(q="classic", limit=7))).data_version == 6
    with pytest.raises(CursorExpired):
        await engine.find(SearchQuery(q="classic", limit=7, after=first.next))
    engine.close()


async def test_a_cursor_of_an_index_that_is_gone_says_to_start_again(tmp_path: Path) -> None:
    whole = list(documents(400))
    build(whole, tmp_path, 1)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()), check_seconds=0.0)
    first = await engine.find(SearchQuery(q="classic", limit=7))
    for version in range(2, 8):
        build(whole, tmp_path, version)
        await engine.find(SearchQuery(q="classic", limit=7))
    with pytest.raises(CursorExpired):
        await engine.find(SearchQuery(q="classic", limit=7, after=first.next))
    engine.close()


async def test_a_cursor_of_an_index_that_only_another_process_has_opened_is_to_be_tried_again(tmp_path: Path) -> None:
    build(list(documents(400)), tmp_path, 1)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()))
    first = await engine.find(SearchQuery(q="classic", limit=7))
    assert first.next is not None
    ahead = msgspec.structs.replace(first.next, data_version=2)
    with pytest.raises(StoreUnavailable, match="newest index"):
        await engine.find(SearchQuery(q="classic", limit=7, after=ahead))
    build(list(documents(400)), tmp_path, 2)
    assert (await engine.find(SearchQuery(q="classic", limit=7, after=ahead))).data_version == 2
    engine.close()


def test_rows_of_bits_find_the_same_items_as_postings(postings: SearchIndex, rows: SearchIndex) -> None:
    for q in ("classic", "classic shirt", "sh", "modern boots", "classic s"):
        one, other = (walk(index, q, limit=50, pages=100) for index in (postings, rows))
        met = [{hit.item.iid for hit in hits if hit.score > 1 / 3} for hits in (one, other)]
        assert met[0] == met[1] != set()
    totals = [find(index, SearchQuery(q="classic shirt")).total for index in (postings, rows)]
    assert totals[0] == totals[1] > paging.FEW_HITS


def test_the_page_of_a_whole_name_ends_with_the_items_that_have_all_of_its_words(postings: SearchIndex) -> None:
    names = [item.item.name for item in documents(ITEMS) if len(set(item.item.name.split())) >= paging.NAME_WORDS_MIN]
    assert len(names) > 20
    for name in names[:20]:
        page = find(postings, SearchQuery(q=name))
        assert page.hits[0].item.name == name
        assert all(hit.all_words for hit in page.hits)
        assert (page.total, page.exact) == (page.all_words, False)
        assert page.next is not None
        following = find(postings, SearchQuery(q=name, after=page.next))
        assert following.hits and not any(hit.all_words for hit in following.hits)
        assert not {hit.item.iid for hit in page.hits} & {hit.item.iid for hit in following.hits}
        shorter = find(postings, SearchQuery(q=" ".join(name.split()[-3:])))
        assert len(shorter.hits) > len(page.hits)
