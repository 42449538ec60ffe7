"""A price for a unit of the content is exact and rounded once, half to even."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from edge.analytics.unit_prices import unit_prices
from shared.units.content import Content


@given(
    minor=st.integers(0, 10**12),
    numerator=st.integers(1, 4000),
    denominator=st.sampled_from([1, 2, 3, 8, 16, 1000]),
)
def test_a_unit_price_is_the_rounded_fraction(minor: int, numerator: int, denominator: int) -> None:
    amount, content = f"{minor // 1000}.{minor % 1000:03}", Fraction(numerator, denominator)
    row = {"days": 7, "currency": "BHD", "kind": "sale", "low": amount, "median": None, "high": amount}
    [found] = unit_prices([row], [Content("kg", content, "name")])
    assert Fraction(found["low"]) == Fraction(round(Fraction(amount) / content * 10**6), 10**6)
    assert (found["median"], len(found["low"].partition(".")[2])) == (None, 6)
