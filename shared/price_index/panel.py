"""A panel of prices and quantities: periods by items, NaN where an item was not observed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.errors import ItemIndexError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class IndexNotDefined(ItemIndexError):
    """The index that was asked for cannot be computed from these data; the message says why."""


@dataclass(frozen=True)
class Panel:
    """Prices (> 0, or NaN) and quantities (>= 0, 0 where the price is NaN), each of shape (periods, items)."""

    prices: Floats
    quantities: Floats | None = None

    @property
    def periods(self) -> int:
        """Return the number of periods."""
        return int(self.prices.shape[0])

    @property
    def items(self) -> int:
        """Return the number of items that occur in any period."""
        return int(self.prices.shape[1])

    def present(self) -> Mask:
        """Return which items were observed in which period."""
        return ~np.isnan(self.prices)

    def rows(self, start: int, stop: int) -> "Panel":
        """Return the periods from `start` up to but without `stop`."""
        quantities = None if self.quantities is None else self.quantities[start:stop]
        return Panel(self.prices[start:stop], quantities)

    def take(self, items: Ints) -> "Panel":
        """Return some items by their positions; an item may be taken more than once."""
        quantities = None if self.quantities is None else self.quantities[:, items]
        return Panel(self.prices[:, items], quantities)

    def exchanged(self) -> "Panel":
        """Return prices and quantities exchanged: a price index of the result is a quantity index of this panel.

        Raises IndexNotDefined without quantities.
        """
        if self.quantities is None:
            raise IndexNotDefined("a quantity index needs quantities")
        quantities = np.where(self.quantities > 0, self.quantities, np.nan)
        return Panel(quantities, np.where(np.isnan(quantities), 0.0, self.prices))

    def carried(self) -> "Panel":
        """Return the panel with each missing price replaced by the item's last earlier one, else by its next one.

        A price that was filled in has the quantity 0, so it has no weight.
        """
        forward = _filled(self.prices)
        return Panel(_filled(forward[::-1])[::-1], self.quantities)

    def values(self) -> Floats:
        """Return price times quantity, 0 where an item was not observed."""
        if self.quantities is None:
            raise IndexNotDefined("this method weights items by their sales: it needs quantities")
        return np.nan_to_num(self.prices * self.quantities)


@dataclass(frozen=True)
class PriceTable:
    """A panel and the labels of its periods in order."""

    periods: list[str]
    panel: Panel


def aggregate(period: Ints, item: Ints, price: Floats, quantity: Floats | None, periods: int, items: int) -> Panel:
    """Make a panel of observations: one row each, any number of them for one period and item; see `cell_prices`."""
    cell = period * items + item
    order = np.argsort(cell, kind="stable")
    cell = cell[order]
    starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]][: len(cell)])
    means, sold = cell_prices(starts, price[order], None if quantity is None else quantity[order])
    prices = np.full(periods * items, np.nan)
    prices[cell[starts]] = means
    if sold is None:
        return Panel(prices.reshape(periods, items))
    quantities = np.zeros(periods * items)
    quantities[cell[starts]] = sold
    return Panel(prices.reshape(periods, items), quantities.reshape(periods, items))


def cell_prices(starts: Ints, price: Floats, quantity: Floats | None) -> tuple[Floats, Floats | None]:
    """Return one price for each stretch of rows, and the quantity sold at it; `starts` are the first rows of stretches.

    It is the unit value: the sum of price times quantity by the sum of quantity. Without quantities, or where they are
    all zero, it is the geometric mean of the prices. A price of zero is no observation: a stretch of none but these has
    the price NaN. Equal prices come out as they are, without rounding.
    """
    if not len(starts):
        return np.empty(0), None if quantity is None else np.empty(0)
    above = price > 0
    logs = np.add.reduceat(np.log(np.where(above, price, 1.0)), starts)
    counts = np.add.reduceat(above.astype("f8"), starts)
    least = np.minimum.reduceat(np.where(above, price, np.inf), starts)
    equal = least == np.maximum.reduceat(price, starts)
    with np.errstate(invalid="ignore", divide="ignore"):
        prices = np.exp(logs / counts)
        sold = None if quantity is None else np.add.reduceat(np.where(above, quantity, 0.0), starts)
        if sold is not None and quantity is not None:
            prices = np.where(sold > 0, np.add.reduceat(price * quantity, starts) / sold, prices)
    return np.where(equal, least, prices), sold


@dataclass(frozen=True)
class Coverage:
    """How the items of one period overlap with those of the period that it is compared with; counts of items."""

    items: int
    matched: int
    new: int
    vanished: int

    @property
    def share_matched(self) -> float | None:
        """Return the part of this period's items that the other period has too (0 to 1); None without items."""
        return self.matched / self.items if self.items else None


def coverage(present: Mask, compared_with: Sequence[int]) -> list[Coverage]:
    """Compare each period's items with those of the period at the position given for it."""
    coverages = []
    for here, other in zip(present, compared_with, strict=True):
        items, matched = int(here.sum()), int((here & present[other]).sum())
        coverages.append(Coverage(items, matched, items - matched, int(present[other].sum()) - matched))
    return coverages


def _filled(prices: Floats) -> Floats:
    """Return each missing price replaced by the last one before it, where there is one."""
    known = np.where(np.isnan(prices), -1, np.arange(len(prices))[:, None])
    last = np.maximum.accumulate(known, axis=0)
    return np.where(last >= 0, np.take_along_axis(prices, np.maximum(last, 0), axis=0), np.nan)
