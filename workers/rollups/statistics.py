"""The statistics of counted prices, exact: integers of the minor unit until the last division. Pure."""

from decimal import Context, Decimal
from functools import cache
from itertools import chain
from math import isqrt
from typing import NamedTuple

import numpy as np

from shared.money import minor_digits
from workers.rollups.codec import Array, starts_of

PERCENTS = (10, 25, 50, 75, 90)
SCALE = 6
"""Digits after the point of every amount: enough for a quarter of the smallest unit of any currency."""
_PERCENTS = np.array(PERCENTS)
_EXACT = Context(prec=60)
_NARROW = 1 << 32
_SUM_MAX = 1 << 63
METHOD = (
    "percentiles are exact (percentile_cont over every observed price), never rounded; "
    "mean and sample standard deviation are rounded half-even to the sixth decimal"
)


class Spread(NamedTuple):
    """Figures of each segment, in minor units: `hundredths` of a minor unit, a column each of PERCENTS."""

    segment: Array
    n: Array
    least: Array
    most: Array
    hundredths: Array
    total: list[int]
    squares: list[int]

    def mean(self, position: int, currency: str) -> int:
        """Return the arithmetic mean in millionths of the currency, rounded half-even."""
        return _half_even(self.total[position] * _millionths(currency), int(self.n[position]))

    def deviation(self, position: int, currency: str) -> int | None:
        """Return the sample standard deviation in millionths, rounded half-even; None for a single price."""
        n, total, squares = int(self.n[position]), self.total[position], self.squares[position]
        if n < 2:
            return None
        variance, divisor = (n * squares - total * total) * _millionths(currency) ** 2, n * (n - 1)
        root = isqrt(variance // divisor)
        beyond_half = 4 * variance - (2 * root + 1) ** 2 * divisor
        return root + (beyond_half > 0 or (beyond_half == 0 and root % 2))

    @classmethod
    def joined(cls, parts: "list[Spread]") -> "Spread":
        """Return several, which share no segment, as one."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return spread(*(np.empty(0, "i8"),) * 2)
        segment, n, least, most, hundredths = (np.concatenate(column) for column in list(zip(*parts, strict=True))[:5])
        total, squares = (
            list(chain.from_iterable(getattr(one, name) for one in parts)) for name in ("total", "squares")
        )
        return cls(segment, n, least, most, hundredths, total, squares)

    def percentile(self, position: int, percent: int, currency: str) -> Decimal:
        """Return a percentile of PERCENTS, exactly."""
        return amount(int(self.hundredths[position, PERCENTS.index(percent)]), currency)


def amount(hundredths: int, currency: str) -> Decimal:
    """Turn hundredths of a minor unit into an amount; exact, as no currency has more than four minor digits."""
    return Decimal(hundredths).scaleb(-minor_digits(currency) - 2, _EXACT)


@cache
def millionths_of_hundredth(currency: str) -> int:
    """Return how many millionths of the currency a hundredth of a minor unit is: a whole number, as in `amount`."""
    return _millionths(currency) // 100


@cache
def _millionths(currency: str) -> int:
    """Return how many there are in a minor unit."""
    return int(10 ** (SCALE - minor_digits(currency)))


def _half_even(dividend: int, divisor: int) -> int:
    quotient, rest = divmod(dividend, divisor)
    return quotient + (2 * rest > divisor or (2 * rest == divisor and quotient % 2))


def spread(segment: Array, price: Array, times: Array | None = None) -> Spread:
    """Make the statistics of segments from prices, sorted by segment and price; `times`: how often each.

    Without `times` each comes once.
    """
    starts = starts_of(segment)
    ends = np.empty_like(starts)
    ends[:-1], ends[-1:] = starts[1:] - 1, len(segment) - 1
    upto = None if times is None else times.cumsum()
    base = starts if times is None or upto is None else upto.take(starts) - times.take(starts)
    n = (ends + 1 if upto is None else upto.take(ends)) - base
    before = base[:, None]
    low, rest = np.divmod(_PERCENTS * (n[:, None] - 1), 100)
    ranks = (before + low, before + np.minimum(low + 1, n[:, None] - 1))
    places = ranks if upto is None else (upto.searchsorted(rank, side="right") for rank in ranks)
    lower, upper = (price.take(place).astype("i8", copy=False) for place in places)
    hundredths = lower * 100 + (upper - lower) * rest
    total, squares = _powers(price, times, starts)
    least, most = (price.take(place).astype("i8", copy=False) for place in (starts, ends))
    return Spread(segment.take(starts).astype("i8", copy=False), n, least, most, hundredths, total, squares)


class Discounts(NamedTuple):
    """By segment: observations with a list price, how many of them were below it, and by how much (NaN: none)."""

    listed: Array
    promoted: Array
    mean: Array
    median: Array

    @classmethod
    def none(cls, count: int) -> "Discounts":
        """Return those of `count` segments without any list price."""
        return cls(*np.zeros((2, count), "i8"), *np.full((2, count), np.nan))

    def rows(self, segments: Array) -> list[dict[str, int | float | None]]:
        """Return figures of segments as the columns of an answer; the depth is 1 - price / list price."""
        columns = (column.take(segments).tolist() for column in self)
        return [
            {
                "list_price_n": listed,
                "promotion_share": round(promoted / listed, 6) if listed else None,
                "discount_mean": round(mean, 6) if promoted else None,
                "discount_median": round(median, 6) if promoted else None,
            }
            for listed, promoted, mean, median in zip(*columns, strict=True)
        ]


def discounts(count: int, segment: Array, price: Array, list_price: Array, times: Array) -> Discounts:
    """Make the discounts of `count` segments from pairs of price and list price, and how often each comes."""
    if not len(segment):
        return Discounts.none(count)
    listed = np.bincount(segment, weights=times, minlength=count).astype("i8")
    below = np.flatnonzero(list_price > price)
    segment, times = segment.take(below), times.take(below)
    depth = (list_price.take(below) - price.take(below)) / list_price.take(below)
    # By depth, then by segment: a stable sort of small whole numbers is one pass, and several times as fast as lexsort.
    order = np.argsort(depth)
    order = order.take(np.argsort(segment.take(order).astype(np.min_scalar_type(count)), kind="stable"))
    segment, times, depth = segment.take(order), times.take(order), depth.take(order)
    promoted = np.bincount(segment, weights=times, minlength=count).astype("i8")
    mean, median = np.full(count, np.nan), np.full(count, np.nan)
    there = np.flatnonzero(promoted)
    if len(there):
        mean[there] = np.bincount(segment, weights=depth * times, minlength=count)[there] / promoted[there]
        upto, before = np.cumsum(times), (np.cumsum(promoted) - promoted)[there]
        low, high = (
            depth.take(np.searchsorted(upto, before + rank, side="right"))
            for rank in ((promoted[there] - 1) // 2, promoted[there] // 2)
        )
        median[there] = (low + high) / 2
    return Discounts(listed, promoted, mean, median)


def _powers(price: Array, times: Array | None, starts: Array) -> tuple[list[int], list[int]]:
    """Return the sum and the sum of squares of each segment's prices."""
    if not len(starts):
        return [], []
    price = price.astype("i8", copy=False)
    most, count = int(price.max()), len(price) if times is None else int(times.sum())
    if most**2 * count < _SUM_MAX:
        summed = price if times is None else price * times
        return np.add.reduceat(summed, starts).tolist(), np.add.reduceat(summed * price, starts).tolist()
    t = np.ones(len(price), "i8") if times is None else times
    if most >= _NARROW:  # beyond 42 million dollars: rare enough for Python's own integers
        p, t = price.astype(object), t.astype(object)
        return list(np.add.reduceat(p * t, starts)), list(np.add.reduceat(p * p * t, starts))
    # In halves of 16 bits no sum leaves 63 bits, however many observations there are.
    high, low = price >> 16, price & 0xFFFF
    sums = [np.add.reduceat(part * t, starts).tolist() for part in (high, low, high * high, high * low, low * low)]
    total = [(h << 16) + lo for h, lo in zip(sums[0], sums[1], strict=True)]
    squares = [(hh << 32) + (hl << 17) + ll for hh, hl, ll in zip(*sums[2:], strict=True)]
    return total, squares
