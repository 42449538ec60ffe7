"""Of a question only what has one meaning is read; everything else stays a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.search.understanding import Understood, understand


@pytest.mark.parametrize(
    ("q", "read"),
    [
        ("soy milk under 20 hkd", Understood("soy milk", "HKD", None, "20")),
        ("soy milk under 20hkd", Understood("soy milk", "HKD", None, "20")),
        ("milk below HK$20", Understood("milk", "HKD", None, "20")),
        ("tea up to €3,50", Understood("tea", "EUR", None, "3.50")),
        ("tv over 1,000 usd under 2,000.50 USD", Understood("tv", "USD", "1000", "2000.50")),
        ("< 5 EUR tea", Understood("tea", "EUR", None, "5")),
        ("1l milk at least 10 HKD", Understood("1l milk", "HKD", "10", None, ("1000 ml",))),
        ("1l milk", Understood("1l milk", quantities=("1000 ml",))),
        ("vitasoy 6 pack", Understood("vitasoy 6 pack", quantities=("6 pieces",))),
    ],
)
def test_bounds_and_quantities_are_read(q: str, read: Understood) -> None:
    assert understand(q) == read


@pytest.mark.parametrize(
    "q",
    [
        "soy milk",
        "milk under $20",  # of several currencies
        "under 20 hkd",  # nothing is left to search for
        "milk 20 hkd",  # no comparison
        "under armour shoes",
        "tea under 5 hkd under 6 hkd",
        "wine over 200 hkd under 30 usd",
        "tea over 50 hkd under 5 hkd",  # nothing can be so
        "milk under 20 xyz",
        '"milk" AND under',
        "milk.*",
    ],
)
def test_what_may_mean_something_else_stays_words(q: str) -> None:
    found = understand(q)
    assert found is None or (found.q, found.currency) == (q, None)


def test_a_code_that_is_a_word_is_a_currency_in_capitals_alone() -> None:
    assert understand("flour under 2 CUP") == Understood("flour", "CUP", None, "2")
    found = understand("flour under 2 cup")
    assert found is not None and found.currency is None and found.q == "flour under 2 cup"


@given(q=st.text(max_size=200))
def test_any_text_is_read_without_an_error(q: str) -> None:
    found = understand(q)
    assert found is None or found.q.strip()
