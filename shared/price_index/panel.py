"""A panel of prices and quantities, periods by items: labels of periods, and how one is made of columns of text."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shared.calendar_periods import first_day, quarter
from shared.errors import InvalidFile, ItemIndexError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
GRANULARITIES: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": lambda day: first_day(day, "week").isoformat(),
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": quarter,
    "year": lambda day: f"{day:%Y}",
}
CELLS_MAX = 100_000_000
COLUMNS = {
    "period": ("period", "time", "date", "month", "day"),
    "item": ("item", "item_id", "prodid", "product", "product_id", "id"),
    "price": ("price", "prices"),
    "quantity": ("quantity", "quantities", "qty", "units"),
}
"""The columns of a file, each with the names that it may have; all but the quantity are needed."""


class IndexNotDefined(ItemIndexError):
    """The index that was asked for cannot be computed from these data; the message says why."""


@dataclass(frozen=True)
class Panel:
    """Prices (> 0, or NaN) and quantities (>= 0, 0 where the price is NaN), each of shape (periods, items)."""

    prices: Floats
    quantities: Floats | None = None

    @property
    def periods(self) -> int:
        return int(self.prices.shape[0])

    @property
    def items(self) -> int:
        """Return the number of items that occur in any period."""
        return int(self.prices.shape[1])

    def present(self) -> Mask:
        return ~np.isnan(self.prices)

    def rows(self, start: int, stop: int) -> "Panel":
        """Return the periods from `start` up to but without `stop`."""
        quantities = None if self.quantities is None else self.quantities[start:stop]
        return Panel(self.prices[start:stop], quantities)

    def take(self, items: Ints) -> "Panel":
        """Return some items by their positions; an item may be taken more than once."""
        quantities = None if self.quantities is None else self.quantities[:, items]
        return Panel(self.prices[:, items], quantities)

    def quantity_panel(self) -> "Panel":
        """Return prices and quantities exchanged: a price index of the result is a quantity index of this panel.

        Raises IndexNotDefined without quantities.
        """
        if self.quantities is None:
            raise IndexNotDefined("a quantity index needs quantities")
        quantities = np.where(self.quantities > 0, self.quantities, np.nan)
        return Panel(quantities, np.where(np.isnan(quantities), 0.0, self.prices))

    def with_carried_prices(self) -> "Panel":
        """Return the panel with each missing price replaced by the item's last earlier one, else by its next one.

        A price that was filled in has the quantity 0, so it has no weight.
        """
        forward = _fill_forward(self.prices)
        return Panel(_fill_forward(forward[::-1])[::-1], self.quantities)

    def values(self) -> Floats:
        """Return price times quantity, 0 where an item was not observed."""
        if self.quantities is None:
            raise IndexNotDefined("this method weights items by their sales: it needs quantities")
        return np.nan_to_num(self.prices * self.quantities)


@dataclass(frozen=True)
class PriceTable:
    """A panel, the labels of its periods in order, and the item of each column, ascending; None: one column an item."""

    periods: list[str]
    panel: Panel
    item: Ints | None = None


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
class PanelOverlap:
    """How the items of one period overlap with those of the period that it is compared with.

    Counts of items, and `prices`: how many columns of matched items both have.
    """

    items: int
    matched: int
    prices: int
    new: int
    vanished: int

    @property
    def share_matched(self) -> float | None:
        """Return the part of this period's items that the other period has too (0 to 1); None without items."""
        return self.matched / self.items if self.items else None


def coverage(present: Mask, compared_with: Sequence[int], starts: Ints) -> list[PanelOverlap]:
    """Compare each period's items with those of the period at the position given for it.

    `starts` are the first columns of items. An item is matched where both periods have one of its columns.
    """
    held = np.logical_or.reduceat(present, starts, axis=1).sum(axis=1)
    coverages = []
    for position, other in enumerate(compared_with):
        both = present[position] & present[other]
        items, matched = int(held[position]), int(np.logical_or.reduceat(both, starts).sum())
        coverages.append(PanelOverlap(items, matched, int(both.sum()), items - matched, int(held[other]) - matched))
    return coverages


def _fill_forward(prices: Floats) -> Floats:
    """Return each missing price replaced by the last one before it, where there is one."""
    known = np.where(np.isnan(prices), -1, np.arange(len(prices))[:, None])
    last = np.maximum.accumulate(known, axis=0)
    return np.where(last >= 0, np.take_along_axis(prices, np.maximum(last, 0), axis=0), np.nan)


def distinct_labels(labels: list[str]) -> list[str]:
    """Return the distinct labels in order: numbers by size, else text with the numbers in it by size (2024-9, 2024-10).

    ISO dates, months (2024-01), weeks (2024-W05) and quarters (2024-Q1) are in the order of time that way.
    """
    distinct = set(labels)
    if all(_NUMBER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=lambda label: (float(label), label))
    return sorted(distinct, key=_natural)


def _natural(label: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return a sort key in which runs of digits count as numbers; labels that differ never have the same key."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", label)
    return [(0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts], label


def label_periods(labels: list[str], granularity: str) -> list[str]:
    """Return the label of the period that each day belongs to: of a week its Monday, else 2024-01, 2024-Q1, 2024.

    Raises IndexNotDefined for a label that is not a day written YYYY-MM-DD.
    """
    name = GRANULARITIES[granularity]
    days: dict[str, str] = {}
    for label in set(labels):
        try:
            if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", label):
                raise ValueError
            days[label] = name(date.fromisoformat(label))
        except ValueError:
            raise IndexNotDefined("granularity: every period of the file must be a day, YYYY-MM-DD") from None
    return [days[label] for label in labels]


def table_of(columns: Mapping[str, pa.ChunkedArray], granularity: str | None = None) -> PriceTable:
    """Make a table of a file's columns, which are text.

    Several rows of one item in one period become one: see `aggregate`. Raises InvalidFile, naming the row (1 is the
    first below the header), for a period or item without text, a price that is not above zero or a quantity below zero.
    """
    labels, period = _codes(columns, "period")
    of_label = labels if granularity is None else label_periods(labels, granularity)
    names = distinct_labels(of_label)
    position = {name: number for number, name in enumerate(names)}
    period = np.array([position[label] for label in of_label])[period]
    items, item = _codes(columns, "item")
    if len(names) * len(items) > CELLS_MAX:
        raise InvalidFile(f"more than {CELLS_MAX:,} cells of period and item: take longer periods (--granularity)")
    price = _numbers(columns["price"], "price", zero=False)
    quantity = _numbers(columns["quantity"], "quantity", zero=True) if "quantity" in columns else None
    with np.errstate(over="ignore"):
        if quantity is not None and not np.isfinite(np.sum(price * quantity)):
            raise InvalidFile("prices times quantities add up to more than a number can hold")
    return PriceTable(names, aggregate(period, item, price, quantity, len(names), len(items)))


def _codes(columns: Mapping[str, pa.ChunkedArray], name: str) -> tuple[list[str], Ints]:
    """Return the distinct texts of a column, in the order in which they appear, and each row's position among them."""
    encoded = columns[name].combine_chunks().dictionary_encode()
    texts, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype("i8")
    if "" in texts:
        raise InvalidFile(f"row {int(np.argmax(codes == texts.index(''))) + 1}: the {name} is empty")
    return texts, codes


def _numbers(column: pa.ChunkedArray, name: str, *, zero: bool) -> Floats:
    try:
        numbers: Floats = column.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        raise InvalidFile(f"row {_first_not_a_number(column)}: the {name} is not a number") from None
    wrong = ~(np.isfinite(numbers) & (numbers >= 0 if zero else numbers > 0))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise InvalidFile(f"row {row}: the {name} must be {'zero or more' if zero else 'above zero'} and finite")
    return numbers


def _first_not_a_number(texts: pa.ChunkedArray) -> int:
    """Return the first row, from 1, whose text Arrow cannot read as a number."""
    low, high = 0, len(texts)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            texts.slice(low, middle - low).cast(pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low + 1
