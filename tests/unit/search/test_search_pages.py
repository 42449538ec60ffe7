"""Pages never overlap and never skip."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.search import layout, paging
from shared.search.index import SearchIndex
from shared.search.model import Hit, SearchQuery
from shared.search.paging import find
from tests.perf.search_sample import documents
from tests.unit.search.conftest import opened

ITEMS = 3_000
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


@pytest.fixture(scope="module", params=["postings", "rows"])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """An index without common words, and the same one with nearly every word a common one."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "rows":
            patch.setattr(layout, "COMMON_DOCUMENTS_MIN", 20)
        return opened(list(documents(ITEMS)), tmp_path_factory.mktemp(request.param))


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
@settings(max_examples=40)
def test_the_size_of_pages_does_not_change_the_order(many: SearchIndex, q: str, limit: int) -> None:
    small = walk(many, q, limit=limit, pages=8)
    large = walk(many, q, limit=50, pages=-(-8 * limit // 50))
    assert [hit.item.iid for hit in small] == [hit.item.iid for hit in large[: len(small)]]


def test_a_cursor_continues_in_a_newer_index(tmp_path: Path) -> None:
    whole = list(documents(400))
    before = opened(whole, tmp_path, 1)
    after = opened(whole[:200] + whole[201:], tmp_path, 2)
    first = find(before, SearchQuery(q="IID-", limit=200))
    second = find(after, SearchQuery(q="IID-", limit=200, after=first.next))
    assert [hit.item.iid for hit in second.hits] == [document.item.iid for document in whole[201:]]
    first = find(before, SearchQuery(q="classic", limit=20))
    assert first.next is not None
    second = find(after, SearchQuery(q="classic", limit=20, after=first.next))
    assert {hit.item.iid for hit in first.hits}.isdisjoint(hit.item.iid for hit in second.hits)


def test_rows_of_bits_find_the_same_items_as_postings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = list(documents(1_000))
    plain = opened(sample, tmp_path / "plain")
    monkeypatch.setattr(layout, "COMMON_DOCUMENTS_MIN", 20)
    rows = opened(sample, tmp_path / "rows")
    for q in ("classic", "classic shirt", "sh", "modern boots", "classic s"):
        one, other = (walk(index, q, limit=50, pages=100) for index in (plain, rows))
        met = [{hit.item.iid for hit in hits if hit.score > 1 / 3} for hits in (one, other)]
        assert met[0] == met[1] != set()
    totals = [find(index, SearchQuery(q="classic shirt")).total for index in (plain, rows)]
    assert totals[0] == totals[1] > paging.FEW_HITS
