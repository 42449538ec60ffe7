"""Words are cut the same way wherever they come from."""

import re
from pathlib import Path

import pytest
from babel import Locale
from hypothesis import example, given
from hypothesis import strategies as st

from shared.search.model import Brand, Category, Document, Item
from shared.text import WORD_CHARACTERS_MAX, fold, indexed_words, query_words, stems
from tests.support.search_catalogue import opened
from tests.unit.shared.search.test_promises import ask_search_promises, iids, strict


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
@example("\u17b4")  # a sign of Khmer without the letter that it belongs to
@example("\u17b4\u1780")
def test_whatever_is_asked_for_with_a_texts_own_words_is_in_that_text(text: str) -> None:
    assert set(query_words(text)) <= set(indexed_words(text))


@given(st.text(max_size=60))
def test_words_hold_no_space_by_which_the_index_would_cut_them_again(text: str) -> None:
    assert all(len(word.split()) == 1 for word in indexed_words(text))
    assert len(stems(indexed_words(text))) == len(indexed_words(text))


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_words_of_ascii_text_are_its_runs_of_letters_and_digits_without_case_and_apostrophes(text: str) -> None:
    assert indexed_words(text) == [run[:WORD_CHARACTERS_MAX] for run in re.findall("[a-z0-9]+", fold(text))]
