"""Mean and deviation are what decimal arithmetic with 60 digits rounds half-even to six decimals."""

from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workers.reports.rendering import MONEY, money, shares
from workers.reports.statistics import PERCENTS, amount, millionths, spread

EXACT = Context(prec=60)
DIGITS = {"JPY": 0, "HKD": 2, "KWD": 3, "CLF": 4}
_COUNTS = st.dictionaries(st.integers(0, 10**15), st.integers(1, 10**6), min_size=1, max_size=8)


def _rounded(minor: Decimal, currency: str) -> int:
    amount = minor.scaleb(-DIGITS[currency], EXACT).quantize(Decimal("0.000001"), context=EXACT)
    return int(amount.scaleb(6, EXACT))


@given(times=_COUNTS, currency=st.sampled_from(sorted(DIGITS)))
@example(times={0: 63, 1: 1}, currency="CLF")  # 1/64 of a minor unit: a half of the sixth decimal
@example(times={0: 1, 1: 63}, currency="CLF")
@example(times={0: 1, 1: 1}, currency="JPY")
@example(times={7: 3}, currency="HKD")
def test_mean_and_deviation_are_those_of_decimal_arithmetic(times: dict[int, int], currency: str) -> None:
    prices = np.array(sorted(times))
    figures = spread(np.zeros(len(prices), "i8"), prices, np.array([times[price] for price in prices.tolist()]))
    n = sum(times.values())
    total = sum(price * count for price, count in times.items())
    squares = sum(price * price * count for price, count in times.items())
    assert figures.mean(0, currency) == _rounded(EXACT.divide(Decimal(total), Decimal(n)), currency)
    if n < 2:
        assert figures.deviation(0, currency) is None
    else:
        variance = EXACT.divide(Decimal(n * squares - total * total), Decimal(n * (n - 1)))
        assert figures.deviation(0, currency) == _rounded(EXACT.sqrt(variance), currency)
    hundredths = figures.hundredths[0].tolist()
    column = money([*millionths(hundredths, [currency] * len(PERCENTS))])
    assert column.to_pylist() == [amount(one, currency) for one in hundredths]


@pytest.mark.parametrize("amounts", [[], [None, 0, 1, 10**30, None]], ids=["none", "some"])
def test_amounts_keep_their_nulls_and_their_size(amounts: list[int | None]) -> None:
    expected = [None if one is None else Decimal(one).scaleb(-6) for one in amounts]
    assert money(amounts).equals(pa.array(expected, MONEY))


@pytest.mark.parametrize("observations", [[], [{}], [{2: 1, 1: 3}, {}, {3: 5}]])
def test_shares_are_in_the_order_of_the_codes(observations: list[dict[int, int]]) -> None:
    column = shares(observations, {1: "b", 2: "a", 3: "c"})
    column.validate(full=True)
    expected = [
        [{"channel": "a", "observations": 1, "share": 0.25}, {"channel": "b", "observations": 3, "share": 0.75}],
        [],
        [{"channel": "c", "observations": 5, "share": 1.0}],
    ]
    assert column.to_pylist() == (expected if len(observations) == 3 else [[] for _ in observations])
