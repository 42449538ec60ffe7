"""Words are cut the same way wherever they come from."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text import WORD_CHARACTERS_MAX, fold, indexed_words, prefixes, query_words, stems


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("CRÈME Brûlée", "creme brulee"),
        ("Straße", "strasse"),
        ("Łódź Øl Ærø", "lodz ol aero"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full width"),
        ("Women's WOMEN’S", "womens womens"),
        ("がんばれ", "がんばれ"),
        ("한국어", "한국어"),
    ],
)
def test_case_accents_and_width_do_not_matter(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_cjk_is_found_by_characters_and_pairs_beside_other_words() -> None:
    assert indexed_words("維他奶 250ml") == ["維", "他", "奶", "維他", "他奶", "250ml"]
    assert query_words("維他奶") == ["維他", "他奶"]
    assert query_words("奶") == ["奶"]


def test_prefixes_are_of_words_not_of_cjk() -> None:
    assert prefixes("soy") == ("s", "so", "soy")
    assert prefixes("奶") == ()


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
