"""Unit prices of columns of prices are those of each price by itself, however large its terms are."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidParameter
from shared.money import minor_digits
from workers.analytics.reports.unit_prices import VALUE_MAX, Contents, unit_prices_of

_ROWS = st.lists(
    st.tuples(st.integers(0, 10**12), st.fractions(Fraction(1, 2), 10**4, max_denominator=10**11)), min_size=1
)


@given(rows=_ROWS, currency=st.sampled_from(["HKD", "JPY", "KWD", "CLF"]))
def test_each_is_the_exact_quotient_rounded_once(rows: list[tuple[int, Fraction]], currency: str) -> None:
    amounts = [amount for _, amount in rows]
    held = Contents(*(np.array([getattr(one, term) for one in amounts]) for term in Contents._fields))
    exact = [round(Fraction(minor * 10**6, 10 ** minor_digits(currency)) / amount) for minor, amount in rows]
    prices = np.array([minor for minor, _ in rows])
    if max(exact) > VALUE_MAX:
        with pytest.raises(InvalidParameter, match="over 10,000,000,000"):
            unit_prices_of(prices, held, currency)
    else:
        assert unit_prices_of(prices, held, currency).tolist() == exact
