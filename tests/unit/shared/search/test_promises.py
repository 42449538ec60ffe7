"""What the contract promises of a search (section 3)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.search.answers import Search
from shared.errors import UnknownTerm
from shared.search.index import SearchIndex
from shared.search.model import Document, Item, Page, SearchQuery
from shared.search.paging import find
from shared.search.query_words import WORDS_MAX
from tests.support.search_catalogue import catalogue, opened


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
