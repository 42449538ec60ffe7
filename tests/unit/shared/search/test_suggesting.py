"""Suggestions for words with a letter wrong, and the order of brands."""

from pathlib import Path

import pytest

from shared.search.index import SearchIndex
from shared.search.model import Brand, Document, Item
from shared.search.suggesting import Suggester
from tests.support.search_catalogue import opened


@pytest.mark.parametrize(
    ("q", "first"),
    [
        ("vitasoi", ("brand", "vitasoy")),
        ("vtasoy", ("brand", "vitasoy")),
        ("refirg", ("item", "IID-D0001")),  # the beginning of a word, two of its letters swapped
        ("vitasoy melt", ("item", "IID-A0002")),
    ],
)
def test_where_nothing_fits_the_last_word_may_have_a_letter_wrong(
    index: SearchIndex, q: str, first: tuple[str, str]
) -> None:
    found = Suggester(index).suggest(q, 8)
    assert (found[0].kind, found[0].value) == first


@pytest.mark.parametrize("q", ["zzzzzzz", "zta", "維他他", "!!!", "vitasoi malt"])
def test_a_short_word_or_one_like_no_other_suggests_nothing(index: SearchIndex, q: str) -> None:
    assert Suggester(index).suggest(q, 8) == []


def test_a_brand_comes_before_those_whose_names_begin_with_its_own(tmp_path: Path) -> None:
    """Whichever of them has more items; another brand that begins so is ordered by its items alone."""
    brands = ["Vitasoy San Sui"] * 3 + ["Vitasoy"] + ["Vitasoya"] * 2 + ["Vitasan"] * 5
    documents = [
        Document(Item(f"IID-{number:02}", "Tofu", Brand(1, name, name.lower().replace(" ", "-")), None, None))
        for number, name in enumerate(brands)
    ]
    found = Suggester(opened(documents, tmp_path)).suggest("vitas", 8)
    named = [(one.value, one.items) for one in found if one.kind == "brand"]
    assert named == [("vitasan", 5), ("vitasoy", 1), ("vitasoy-san-sui", 3), ("vitasoya", 2)]
