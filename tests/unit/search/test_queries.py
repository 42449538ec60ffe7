"""Queries of an index: what is found, in which order, on which page."""

import asyncio
import io
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from babel import Locale
from hypothesis import given, settings
from hypothesis import strategies as st

from edge.http.context import CONTEXT, Context
from edge.http.lists import CursorSigner
from edge.http.parameters import PARSER, QUERY
from edge.http.problems import Problem
from edge.http.routing import register
from edge.search import answers as schemas
from edge.search import engine as engine_module
from edge.search.answers import Search, SearchAnswers, search_parameters
from edge.search.engine import AnsweringThreads, SearchEngine, identifiers_in
from shared.errors import CursorExpired, InvalidCursor, StoreUnavailable, UnknownTerm
from shared.search import layout, paging
from shared.search.directory import prune
from shared.search.index import SearchIndex
from shared.search.model import Brand, Category, Document, Hit, Item, Page, SearchQuery
from shared.search.paging import find
from shared.search.query_words import WORDS_MAX
from shared.telemetry.log import Log
from shared.text import WORD_CHARACTERS_MAX, fold, indexed_words, query_words, stems
from tests.perf.search_sample import documents
from tests.unit.search.conftest import catalogue, opened
from workers.search.build import build

# The engine always searches the newest whole index, and says so when it has none.


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


# The handler turns parameters into a question, and a page into the envelope of lists.


BASE = "http://127.0.0.1:8080/v1"


@pytest.fixture
def search(tmp_path: Path) -> Search:
    build(catalogue(), tmp_path, 3)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()))
    return Search(SearchAnswers(engine, CursorSigner("s" * 32), BASE))


async def ask(search: Search, **parameters: Any) -> dict[str, Any]:
    asked = {"limit": 20, "brand": None, "category": None, "product_type": None, "cursor": None, **parameters}
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


# Which identifiers a query is searched for, and that their items come first on every page.


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


# Pages never overlap and never skip.


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


async def test_a_cursor_lives_until_the_fifth_load_however_often_an_index_is_merged(tmp_path: Path) -> None:
    whole = list(documents(400))
    build(whole, tmp_path, 1)
    engine = SearchEngine(tmp_path, Log("edge", stream=io.StringIO()), check_seconds=0.0)
    first = await engine.find(SearchQuery(q="classic", limit=7))
    for version in range(2, 6):
        for _ in range(2):  # the load, and the merge of its segments
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


# The parameters of a search as the fast path reads them are those of validation, or it leaves the query to that.


NAMES = ["q", "limit", "brand", "category", "product_type", "cursor", "page", "Q", ""]

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["1", "50", "51", "0", "+5", "soy milk", " x ", "e\u0301", "\0", "\ud800"]
)

QUOTED = TEXTS.flatmap(
    lambda text: st.sampled_from(
        [
            quote(text, errors="surrogatepass"),
            quote_plus(text, errors="surrogatepass"),
            "%",
            "%zz",
            "a%ff",
            "a=b",
            "a;b",
        ]
    )
)

PAIRS = st.tuples(st.sampled_from(NAMES), QUOTED).map("=".join)

QUERIES = st.lists(PAIRS | st.sampled_from(["q", "", "#", "q=soy#x", "q=a"]), min_size=1, max_size=5).map("&".join)


async def _validated(query: str) -> dict[str, Any] | None:
    """Read a query the ordinary way."""
    request = make_mocked_request("GET", f"/v1/index/search?{query}")
    try:
        read: dict[str, Any] = await PARSER.parse(
            schemas.SearchParameters(), request, location="querystring", unknown=None
        )
    except Problem:
        return None
    return read


@given(query=QUERIES)
async def test_what_the_fast_path_reads_is_what_validation_reads(query: str) -> None:
    read = search_parameters(query)
    assert read is None or read == await _validated(query)


async def test_plain_queries_are_read() -> None:
    for query in (
        "q=soy+milk",
        "q=soy%20milk&limit=7",
        "limit=50&q=%E7%B6%AD%E4%BB%96",
        "q=a&brand=vita&category=x.y",
        "q=a&cursor=Zm9v",
    ):
        assert search_parameters(query) == await _validated(query) is not None, query


def test_other_queries_are_left_to_validation() -> None:
    for query in (
        "",
        "q",
        "q=",
        "limit=3",
        "q=a&q=b",
        "q=a&limit=051",
        "q=a&page=2",
        "q=%ff",
        "q=a#b",
        "q=a&",
        "q=%00",
        "q=a&limit=0",
    ):
        assert search_parameters(query) is None, query


# What the contract promises of a search (section 3).


def ask_search_promises(index: SearchIndex, q: str, **more: str | int) -> Page:
    return find(index, SearchQuery(q=q, **more))  # type: ignore[arg-type]


def iids(page: Page) -> list[str]:
    return [hit.item.iid for hit in page.hits]


def strict(page: Page) -> set[str]:
    """The hits in which every word is met: those above the lowest band of scores."""
    return {hit.item.iid for hit in page.hits if hit.score > 1 / 3}


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("milk soy", {"IID-A0001", "IID-A0002", "IID-A0003"}),
        ("vitasoy malt", {"IID-A0002"}),
        ("nike shoes", {"IID-C0001", "IID-C0002"}),
        ("desserts", {"IID-B0001", "IID-B0002"}),
        ("running sho", {"IID-C0001", "IID-C0002"}),
        ("refr", {"IID-D0001", "IID-D0002"}),
        ("creme BRULEE", {"IID-B0001"}),
        ("muller", {"IID-B0001", "IID-B0002"}),
        ("womens", {"IID-C0001"}),
        ("維他奶", {"IID-A0001", "IID-A0002"}),
        ("朱古力", {"IID-A0003", "IID-B0002"}),
        ("麥精 vitasoy", {"IID-A0002"}),
        *((more_errors, set()) for more_errors in ("zat", "rigerator", "zoymalk")),
    ],
)
def test_all_words_are_met_anywhere_the_last_one_may_be_begun(index: SearchIndex, q: str, found: set[str]) -> None:
    assert strict(ask_search_promises(index, q)) == found


@pytest.mark.parametrize(
    ("q", "first"),
    [
        ("nkie shoes", "IID-C0002"),  # one edit from four letters: two letters swapped
        ("refrigirater", "IID-D0001"),  # two edits from eight letters
        ("chocolat mousse", "IID-B0002"),
        ("vitasoi malt", "IID-A0002"),
        ("salomn", "IID-C0004"),
    ],
)
def test_typing_errors_are_forgiven(index: SearchIndex, q: str, first: str) -> None:
    assert first in strict(ask_search_promises(index, q))


@pytest.mark.parametrize(
    ("q", "found"), [("soda stream", "IID-D0003"), ("memorycard", "IID-D0004"), ("32 gb", "IID-D0004")]
)
def test_a_space_too_many_or_too_few_is_forgiven(index: SearchIndex, q: str, found: str) -> None:
    assert iids(ask_search_promises(index, q))[0] == found


def test_a_word_does_not_count_as_another_because_both_together_have_its_stem(tmp_path: Path) -> None:
    names = {"IID-1": "Vitamin C drops", "IID-2": "Vitamin E drops", "IID-3": "Snack bar", "IID-4": "Bar stool red"}
    index = opened([Document(Item(iid, name, None, None, None)) for iid, name in names.items()], tmp_path)
    assert strict(ask_search_promises(index, "vitamin e")) == {"IID-2"}
    assert strict(ask_search_promises(index, "bar red")) == {"IID-4"}


def test_a_long_word_is_met_only_by_words_that_begin_with_all_of_it(tmp_path: Path) -> None:
    names = {"IID-1": "Waschmaschine", "IID-2": "Waschmaschinenschlauch", "IID-3": "Waschmaschinenschrank"}
    index = opened([Document(Item(iid, name, None, None, None)) for iid, name in names.items()], tmp_path)
    for q, found in (
        ("waschmaschine", {"IID-1", "IID-2", "IID-3"}),
        ("waschmaschinensch", {"IID-2", "IID-3"}),
        ("waschmaschinenschlauch", {"IID-2"}),
        ("waschmaschinenteppich", set()),
    ):
        assert strict(ask_search_promises(index, q)) == found, q


def test_a_digit_before_a_word_may_stand_alone(tmp_path: Path) -> None:
    names = {"IID-1": "7-Up Bottle", "IID-2": "Pick Up", "IID-3": "No 7"}
    index = opened([Document(Item(iid, name, None, None, None)) for iid, name in names.items()], tmp_path)
    assert strict(ask_search_promises(index, "7up")) == {"IID-1"}


def test_a_whole_word_comes_before_a_begun_one(index: SearchIndex) -> None:
    assert iids(ask_search_promises(index, "bat"))[:2] == ["IID-D0006", "IID-D0005"]


def test_items_with_some_words_follow_those_with_all(index: SearchIndex) -> None:
    page = ask_search_promises(index, "soy chocolate 1l")
    assert page.hits[0].item.iid == "IID-A0003"
    assert page.hits[0].score > 2 / 3
    assert {"IID-A0001", "IID-B0002"} <= {hit.item.iid for hit in page.hits if hit.score < 1 / 3}


@pytest.mark.parametrize(
    "q", ["soy chocolate 1l", "soy mil", "running sho", "milk", "chocolate pack", "zzz soy", "iid-a"]
)
def test_the_total_counts_hits_with_all_words_separately(index: SearchIndex, q: str) -> None:
    """Counted from the catalogue itself: every word of the question is, or begins, a word of the item's texts."""

    def has_all(item: Item) -> bool:
        words = (
            " ".join(
                [
                    item.name,
                    item.brand.name if item.brand else "",
                    item.product_type or "",
                    *(item.category.path if item.category else []),
                ]
            )
            .lower()
            .split()
        )
        *whole, last = q.split()
        singular = {word.removesuffix("s") for word in words}
        return all(word in singular for word in whole) and any(word.startswith(last) for word in [*words, *singular])

    items = [document.item for document in catalogue()]
    by_iid = q.startswith("iid-")
    expected = {i.iid for i in items if (i.iid.lower().startswith(q) if by_iid else has_all(i))}
    page = ask_search_promises(index, q, limit=50)
    assert {hit.item.iid for hit in page.hits if hit.all_words} == expected
    assert page.all_words == len(expected) <= page.total == len(page.hits)
    assert [hit.all_words for hit in page.hits] == sorted((hit.all_words for hit in page.hits), reverse=True)


@pytest.mark.parametrize("q", ["soy", "IID-A"])
@pytest.mark.parametrize(("filters", "name"), [({"brand": "unknown"}, "brand"), ({"category": "cloth"}, "category")])
def test_a_filter_that_names_nothing_is_refused(index: SearchIndex, q: str, filters: dict[str, str], name: str) -> None:
    with pytest.raises(UnknownTerm) as refused:
        ask_search_promises(index, q, **filters)
    assert (refused.value.parameter, refused.value.kind) == (name, name)


@pytest.mark.parametrize(
    ("q", "iid", "parts"),
    [
        ("nike", "IID-C0001", ["brand"]),
        ("shoes", "IID-C0001", ["product_type", "category", "name"]),
        ("filter", "IID-D0002", ["product_type", "name"]),
        ("drin", "IID-A0001", ["category"]),
        ("維他奶", "IID-A0001", ["name"]),
    ],
)
def test_a_hit_names_the_words_that_matched(index: SearchIndex, q: str, iid: str, parts: list[str]) -> None:
    hits = {hit.item.iid: hit for hit in ask_search_promises(index, q).hits}
    assert hits[iid].matched_on == parts


def test_filters_narrow_by_brand_type_and_category_with_those_below(index: SearchIndex) -> None:
    assert strict(ask_search_promises(index, "running", brand="nike")) == {"IID-C0001", "IID-C0002", "IID-C0003"}
    assert strict(ask_search_promises(index, "running", product_type="SHOES")) == {"IID-C0001", "IID-C0002"}
    assert strict(ask_search_promises(index, "run", category="clothing.shoes")) == {"IID-C0001", "IID-C0002"}
    assert {"IID-C0003", "IID-C0004"} < set(iids(ask_search_promises(index, "run", category="clothing")))
    assert iids(ask_search_promises(index, "milk", brand="nike")) == []


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("IID-A0001", ["IID-A0001"]),
        ("iid-a000", ["IID-A0001", "IID-A0002", "IID-A0003"]),
        ("IID-Z", []),
        ("IID-!", []),
        ("IID-" + "A" * 60, []),
    ],
)
def test_an_iid_is_found_by_its_beginning(index: SearchIndex, q: str, found: list[str]) -> None:
    page = ask_search_promises(index, q)
    assert iids(page) == found
    assert (page.total, page.exact) == (len(found), True)
    assert all(hit.matched_on == ["iid_prefix"] for hit in page.hits)


def test_filters_hold_for_iids_too(index: SearchIndex) -> None:
    page = ask_search_promises(index, "IID-", category="clothing", limit=3)
    assert iids(page) == ["IID-C0001", "IID-C0002", "IID-C0003"]
    assert page.total == 4
    rest = find(index, SearchQuery(q="IID-", category="clothing", limit=3, after=page.next))
    assert (iids(rest), rest.total, rest.next) == (["IID-C0004"], 4, None)


@given(q=st.text(min_size=1, max_size=200))
def test_no_question_breaks_it_and_every_answer_is_in_order(index: SearchIndex, q: str) -> None:
    page = ask_search_promises(index, q, limit=50)
    keys = [(-hit.score, hit.item.iid) for hit in page.hits]
    assert keys == sorted(set(keys))
    assert all(0 < hit.score <= 1 for hit in page.hits)
    assert page.total >= len(page.hits)


@pytest.mark.parametrize("q", ["!!!", "☃", "…", "'"])
def test_a_question_without_a_word_finds_nothing(index: SearchIndex, q: str) -> None:
    page = ask_search_promises(index, q)
    assert (page.hits, page.total, page.exact, page.next) == ([], 0, True, None)


def test_words_beyond_those_that_the_document_names_do_not_count(index: SearchIndex) -> None:
    words = [f"soy{number}" for number in range(WORDS_MAX)]
    assert f"Only the first {WORDS_MAX} words" in (Search.show.__doc__ or "")
    for more in ("chocolate", "朱古力"):
        assert ask_search_promises(index, " ".join([*words[1:], more])).total
        assert not ask_search_promises(index, " ".join([*words, more])).total


# A quantity is found in whatever spelling: by items, by descriptions, while it is typed, and in indexes without them.


NAMES_SEARCH_QUANTITIES = {
    "IID-1": "HDMI cable 3m black",
    "IID-2": "HDMI cable 300 cm white",
    "IID-3": "HDMI cable 5 m black",
    "IID-4": "Olive oil 500ml",
    "IID-5": "Lager 24 x 500 ml",
    "IID-6": "Lager 500ml bottle",
    "IID-7": "Rug 90x200cm",
    "IID-8": "Command hooks by 3M",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    documents = [Document(Item(iid, name, None, None, None)) for iid, name in NAMES_SEARCH_QUANTITIES.items()]
    documents.append(Document(Item("IID-9", "Garden hose", None, None, None), [], "A hose of 15 metres"))
    return opened(documents, tmp_path_factory.mktemp("quantities"))


def hits(index: SearchIndex, q: str) -> list[tuple[str, float]]:
    """Return IID and score of each hit."""
    return [(hit.item.iid, hit.score) for hit in find(index, SearchQuery(q=q)).hits]


@pytest.mark.parametrize("q", ["hdmi cable 3 m", "hdmi cable 3 meters", "hdmi cable 3-metre", "hdmi cable 300cm"])
def test_every_spelling_of_a_quantity_finds_the_same_with_the_same_scores(shop: SearchIndex, q: str) -> None:
    assert hits(shop, q) == hits(shop, "hdmi cable 3m")
    complete = [hit.item.iid for hit in find(shop, SearchQuery(q=q)).hits if hit.all_words]
    assert complete == ["IID-1", "IID-2"]


def test_a_pack_is_found_by_its_content_and_by_itself(shop: SearchIndex) -> None:
    content = [hit.item.iid for hit in find(shop, SearchQuery(q="lager 0.5 l")).hits if hit.all_words]
    pack = [hit.item.iid for hit in find(shop, SearchQuery(q="lager 500ml 24-pack")).hits if hit.all_words]
    assert sorted(content) == ["IID-5", "IID-6"]
    assert pack == ["IID-5"]


def test_sides_are_found_together_and_alone(shop: SearchIndex) -> None:
    assert hits(shop, "rug 0.9 x 2 m")[0][0] == hits(shop, "rug 200 cm")[0][0] == "IID-7"


def test_a_quantity_in_a_description_is_found_in_other_spelling(shop: SearchIndex) -> None:
    assert [iid for iid, _ in hits(shop, "hose 15m")] == ["IID-9"]


def test_a_quantity_that_is_still_being_typed_is_found_by_its_beginning(shop: SearchIndex) -> None:
    for typed in (
        "olive oil 5",
        "olive oil 50",
        "olive oil 500",
        "olive oil 500m",
        "olive oil 500 m",
        "olive oil 500ml",
    ):
        assert hits(shop, typed)[0][0] == "IID-4", typed


def test_a_hit_by_its_quantity_alone_is_matched_on_its_name(shop: SearchIndex) -> None:
    found = {hit.item.iid: hit.matched_on for hit in find(shop, SearchQuery(q="5 metres")).hits}
    assert found == {"IID-3": ["name"]}


def test_a_brand_that_looks_like_a_length_is_found(shop: SearchIndex) -> None:
    assert hits(shop, "3M command hooks")[0][0] == "IID-8"


# Words are cut the same way wherever they come from.


def test_case_accents_and_width_do_not_matter() -> None:
    for text, folded in (
        ("CRÈME Brûlée", "creme brulee"),
        ("Straße", "strasse"),
        ("Łódź Øl Ærø", "lodz ol aero"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full width"),
        ("Women's WOMEN’S", "womens womens"),
        ("がんばれ", "がんばれ"),
        ("한국어", "한국어"),
    ):
        assert fold(text) == folded, text


def test_text_without_spaces_is_found_by_characters_and_pairs_beside_other_words() -> None:
    assert indexed_words("維他奶 250ml") == ["維", "他", "奶", "維他", "他奶", "250ml"]
    assert query_words("維他奶") == ["維他", "他奶"]
    assert query_words("奶") == ["奶"]


def test_vowel_signs_belong_to_their_word_and_points_are_left_out() -> None:
    for text, words in (
        ("दूध पाउडर", ["दूध", "पाउडर"]),
        ("தேங்காய் எண்ணெய்", ["தேங்காய்", "எண்ணெய்"]),
        ("حَلِيب كامل", ["حليب", "كامل"]),
        ("קָפֶה נמס", ["קפה", "נמס"]),
        ("مكتبـــة أحمد", ["مكتبه", "احمد"]),
        ("دوغ کفیر", ["دوغ", "كفير"]),
        ("حليب ٥٠٠ مل", ["حليب", "500", "مل"]),
        ("می\u200cخواهم", ["مي", "خواهم"]),
        ("Schoko\u00adlade", ["schokolade"]),
        ("ශ්\u200dරී", ["ශ්රී"]),
    ):
        assert indexed_words(text) == query_words(text) == words, text


@pytest.mark.parametrize("language", ["hi", "ta", "bn", "th", "my", "km", "ar", "he", "ja"])
def test_names_of_each_script_are_found_by_their_words_and_others_are_not(language: str, tmp_path: Path) -> None:
    """The names are those of countries and regions in the Unicode Consortium's CLDR."""
    listed = {name for code, name in Locale(language).territories.items() if len(code) == 2}
    names = {f"IID-{number:05}": name for number, name in enumerate(sorted(listed))}
    brand, category = Brand(1, "B", "b"), Category("x", ["X"])
    index = opened([Document(Item(iid, name, brand, "", category), [], "") for iid, name in names.items()], tmp_path)
    others, asked = 0, 0
    for iid, name in names.items():
        assert iids(ask_search_promises(index, name))[0] == iid, name
        for word in filter(query_words, name.split()):
            beginning = {iid for iid, name in names.items() if any(one.startswith(word) for one in name.split())}
            found = strict(ask_search_promises(index, word, limit=50))
            assert {iid for iid in beginning if word in names[iid].split()} <= found or len(found) == 50, word
            others, asked = others + len(found - beginning), asked + 1
    assert others <= asked / 4


def test_endings_do_not_matter() -> None:
    assert stems(["shoes", "running"]) == stems(["shoe", "run"])


@given(st.text(max_size=60))
def test_whatever_is_asked_for_with_a_texts_own_words_is_in_that_text(text: str) -> None:
    assert set(query_words(text)) <= set(indexed_words(text))


@given(st.text(max_size=60))
def test_words_hold_no_space_by_which_the_index_would_cut_them_again(text: str) -> None:
    assert all(len(word.split()) == 1 for word in indexed_words(text))
    assert len(stems(indexed_words(text))) == len(indexed_words(text))


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_words_of_ascii_text_are_its_runs_of_letters_and_digits_without_case_and_apostrophes(text: str) -> None:
    assert indexed_words(text) == [run[:WORD_CHARACTERS_MAX] for run in re.findall("[a-z0-9]+", fold(text))]


# Questions of the event loop are answered in threads: results and errors come back, and nothing waits for ever.


@pytest.fixture
def one() -> Iterator[AnsweringThreads]:
    """A single thread."""
    threads = AnsweringThreads(1, "tests")
    yield threads
    threads.close()


async def test_results_and_errors_come_back_from_another_thread(one: AnsweringThreads) -> None:
    assert await one.ask(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await one.ask(lambda: 1 // 0)
    assert await asyncio.gather(*(one.ask(lambda n=n: n) for n in range(50))) == list(range(50))  # type: ignore[misc]


async def test_a_question_that_no_one_waits_for_is_not_begun_and_its_late_answer_is_dropped(
    one: AnsweringThreads,
) -> None:
    begun, proceed, asked = threading.Event(), threading.Event(), []

    def slow() -> None:
        begun.set()
        assert proceed.wait(30)

    running, waiting = asyncio.create_task(one.ask(slow)), asyncio.create_task(one.ask(lambda: asked.append(1)))
    assert await asyncio.to_thread(begun.wait, 30)
    for task in (running, waiting):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    proceed.set()
    assert await one.ask(lambda: 2) == 2
    assert asked == []


async def test_closed_they_finish_what_was_begun_cancel_what_waits_and_take_no_more(one: AnsweringThreads) -> None:
    begun, proceed = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        assert proceed.wait(30)
        return 1

    running, waiting = asyncio.create_task(one.ask(slow)), asyncio.create_task(one.ask(lambda: 2))
    assert await asyncio.to_thread(begun.wait, 30)
    closing = asyncio.create_task(asyncio.to_thread(one.close))
    with pytest.raises(asyncio.CancelledError):
        await waiting
    proceed.set()
    assert await running == 1
    await closing
    with pytest.raises(RuntimeError):
        await one.ask(lambda: 3)
