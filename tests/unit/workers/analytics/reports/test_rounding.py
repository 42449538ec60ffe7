"""Means, deviations and shares are what decimal arithmetic with 60 digits rounds half-even."""

from decimal import Context, Decimal

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from workers.analytics.reports.aggregator import ByChannel
from workers.analytics.reports.columns import rounded, shares
from workers.analytics.rollups.figures import spread

EMPTY = np.empty(0, "i8")

EXACT = Context(prec=60)

DIGITS = {"JPY": 0, "HKD": 2, "KWD": 3, "CLF": 4}

_COUNTS = st.dictionaries(st.integers(0, 10**15), st.integers(1, 10**6), min_size=1, max_size=8)


def _rounded(minor: Decimal, currency: str) -> Decimal:
    return minor.scaleb(-DIGITS[currency], EXACT).quantize(Decimal("0.000001"), context=EXACT)


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


# Counts and their totals, and values on either side of a half of the sixth decimal.
_SHARES = st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)).map(lambda pair: min(pair) / max(pair))

_HALVES = st.integers(0, 999_999).map(lambda n: float(np.float64(f"0.{n:06}5")))


@given(values=st.lists(_SHARES | _HALVES | _HALVES.map(lambda one: float(np.nextafter(one, 1))), max_size=30))
@example(values=[0.0000005, 0.0000015, 1 / 64 / 10**5, 0.5, 1.0])
def test_shares_are_rounded_as_python_rounds(values: list[float]) -> None:
    assert rounded(np.array(values, "f8")).tolist() == [round(one, 6) for one in values]


def test_shares_are_in_the_order_of_rows_and_codes() -> None:
    for order in ([], [0], [0, 1, 2], [2, 1, 0]):
        of_three = ByChannel(np.array([0, 0, 2]), np.array([1, 2, 3]), np.array([3, 1, 5]))
        of_none = ByChannel(*(np.empty(0, "i8"),) * 3)
        column = shares(of_three if len(order) == 3 else of_none, np.array(order, "i8"), {1: "b", 2: "a", 3: "c"})
        expected = [
            [{"channel": "a", "observations": 1, "share": 0.25}, {"channel": "b", "observations": 3, "share": 0.75}],
            [],
            [{"channel": "c", "observations": 5, "share": 1.0}],
        ]
        assert column == ([expected[segment] for segment in order] if len(order) == 3 else [[] for _ in order]), order
