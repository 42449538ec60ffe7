"""Figures of the insights: medians, counts, ranks, and the change of prices of the same items."""

import math
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS
from shared.errors import InvalidParameter
from shared.price_index.panel import Panel, PriceTable, cell_prices
from shared.price_index.question import Question, method_named
from shared.price_index.rows import IndexRow, index_rows
from workers.analytics.reports.aggregator import GroupedSeries, Key, Range, day_of, number
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.query import Reader, rollups_with_entries
from workers.analytics.rollups.codec import Array, joined, order_by, starts_of
from workers.analytics.rollups.rows import ItemPrices, item_of, unpacked

# Reading what a price index compares: one price an item, channel and period, kept by month or made of single
# observations.


CELLS_MAX = 60_000_000
Group = tuple[str, int]
"""A currency, and the brand where the filter groups by brands, else 0."""
_Prices = tuple[int, ItemPrices]
ByPeriod = dict[Group, list[_Prices]]


def price_tables(reader: Reader, chosen: Filter, *, by_channel: bool = True) -> dict[Group, PriceTable]:
    """Return the prices of a filter of one kind by group; periods without a price above zero are not in them.

    Raises InvalidParameter for more than CELLS_MAX prices.
    """
    by_group = prices_by_period(reader, chosen, by_channel=by_channel)
    return {group: table_of(prices) for group, prices in sorted(by_group.items())}


def prices_by_period(reader: Reader, chosen: Filter, *, by_channel: bool = True) -> ByPeriod:
    """Return, for each group that has any, the periods and the prices in them; a period may come in several parts.

    `by_channel`: an item has a price in each channel; else one over all channels, as if they were one.
    """
    months = list(reader.days.months())
    # Of two strata, an item may be in both: only entries make one price of them. So it is with channels.
    kept = by_channel and chosen.channels is None and not chosen.crosses_scope and len(chosen.strata) == 1
    whole = [month for month in months if kept and reader.days.holds_month(month)]
    by_group: ByPeriod = defaultdict(list)
    if whole:
        _add_kept(reader, chosen, whole, by_group)
    _add_observed(reader, chosen, [month for month in months if month not in whole], by_group, by_channel=by_channel)
    reader.report_progress("reading", len(months), len(months))
    return {group: prices for group, prices in by_group.items() if prices}


def _add_kept(reader: Reader, chosen: Filter, months: list[date], by_group: ByPeriod) -> None:
    scope, ids, _ = rollups_with_entries(chosen, reader.tree)
    before: date | None = None
    rows = reader.rows(SQL.item_prices, scope, months, ids, chosen.currency, list(chosen.strata))
    for group_id, month, currency, packed in rows:
        if month != before:
            reader.report_progress("reading", months.index(month), len(months))
            before = month
        prices = unpacked(packed)
        if len(prices.item):
            by_group[currency, group_id if chosen.group_by else 0].append((number(month), prices))


def _add_observed(reader: Reader, chosen: Filter, months: list[date], by_group: ByPeriod, *, by_channel: bool) -> None:
    columns: dict[Group, list[tuple[Array, ...]]] = defaultdict(list)
    for done, month in enumerate(months):
        reader.report_progress("reading", done, len(months))
        for part in reader.entries(chosen, month):
            period = reader.days.periods_of(number(month) - 1 + part.day.astype("i8"))
            group = part.currency, part.group_id if chosen.group_by else 0
            channel = part.channel if by_channel else np.zeros(len(part.ids), "i8")
            columns[group].append((period, part.ids, channel, part.price, part.units))
    sales = chosen.kinds == ("s",)
    for group, parts in columns.items():
        by_group[group] += _by_period(*joined(parts), sales=sales)


def _by_period(
    period: Array, item: Array, channel: Array, price: Array, units: Array, *, sales: bool
) -> list[tuple[int, ItemPrices]]:
    order = order_by(period - period.min(initial=0), item, channel)
    period, item, channel = period[order], item[order], channel[order]
    starts = starts_of(period, item, channel)
    prices, sold = cell_prices(starts, price[order].astype("f8"), units[order].astype("f8") if sales else None)
    amounts = np.zeros(len(prices)) if sold is None else sold
    period, item, channel = period[starts], item[starts], channel[starts]
    bounds = np.append(starts_of(period), len(period))
    by_period = []
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        columns = (item, channel, np.nan_to_num(prices), amounts)
        one = ItemPrices(*(column[start:stop] for column in columns)).priced()
        if len(one.item):
            by_period.append((int(period[start]), one))
    return by_period


def table_of(by_period: list[tuple[int, ItemPrices]]) -> PriceTable:
    """Return periods and their prices as one table. Raises InvalidParameter for more than CELLS_MAX prices."""
    periods = sorted({period for period, _ in by_period})
    places = np.unique(np.concatenate([prices.places() for _, prices in by_period]))
    if len(periods) * len(places) > CELLS_MAX:
        raise InvalidParameter("granularity", "these are too many periods for so many items; take longer ones")
    table = np.full((len(periods), len(places)), np.nan)
    units = np.zeros((len(periods), len(places))) if any(prices.units.any() for _, prices in by_period) else None
    for period, prices in by_period:
        row, position = periods.index(period), np.searchsorted(places, prices.places())
        table[row, position] = prices.price
        if units is not None:
            units[row, position] = prices.units
    return PriceTable([day_of(period).isoformat() for period in periods], Panel(table, units), item_of(places))


# Figures that insights read from segments and from the heads of rollups: medians, counts, ranks.


class Figure(NamedTuple):
    """A segment in short."""

    n: int
    items: int
    median: Decimal
    discounts: dict[str, int | float | None]


def figures(gathered: GroupedSeries) -> dict[Key, Figure]:
    """Return each segment's figures by its key."""
    n = dict(zip(gathered.spread.segment.tolist(), gathered.spread.n.tolist(), strict=True))
    medians, discounts = gathered.medians(), gathered.discounts.rows(np.arange(len(gathered.keys)))
    return {
        key: Figure(n[segment], int(gathered.items[segment]), medians[key], discounts[segment])
        for segment, key in enumerate(gathered.keys)
    }


def period_before(days: Range, period: int) -> int:
    """Return the start of the period before one."""
    if days.granularity is None:
        return number(days.before().first)
    if days.granularity == "month":
        return number((day_of(period) - timedelta(days=1)).replace(day=1))
    return period - (7 if days.granularity == "week" else 1)


def change(now: Decimal, before: Decimal | None) -> float | None:
    """Return by how much an amount changed, 0.1 being a tenth more; None where there was none before."""
    return round(float(now / before) - 1, 6) if before else None


# The change of prices of the same items against the period before; insights show it with that of the median.


BY_INTERVAL = "to two digits of the interval's width; half-even to 6 decimals where the interval is null"
_DECIMALS_MAX = 6
_CHANGES = ("index_change", "index_change_low", "index_change_high")
PRICE_CHANGE = [(name, pa.float64()) for name in (*_CHANGES, "share_matched")]
PRICE_CHANGE_ROUNDING = {**dict.fromkeys(_CHANGES, BY_INTERVAL), "share_matched": SIX_DECIMALS}
PRICE_CHANGE_UNITS = {
    **dict.fromkeys(_CHANGES, "ratio"),
    "share_matched": "share of items",
}
PRICE_CHANGE_METHOD = (
    "index_change is the Jevons index of the items that both periods have in the same channel, less 1, with the 95 % "
    "interval of a jackknife over items (null below three)"
)
_QUESTION = Question(method_named("jevons"), output="pop")


class PriceChange(NamedTuple):
    """By how much prices of the same items changed, 0.1 being a tenth more, and the share of items compared."""

    change: float | None
    low: float | None
    high: float | None
    share_matched: float | None


_UNKNOWN = PriceChange(None, None, None, None)


class PriceChanges:
    """The changes of prices of a filter, period by period; of a filter of both kinds none is known."""

    def __init__(self, reader: Reader, chosen: Filter) -> None:
        self._days = days = reader.days
        self._found: dict[tuple[str, int, int], PriceChange] = {}
        if len(chosen.kinds) != 1:
            return
        before, now = (prices_by_period(reader.of(span), chosen) for span in (days.before(), days))
        for group in sorted(before.keys() | now.keys()):
            self._compare(group, before.get(group, []), now.get(group, []))

    def _compare(self, group: Group, before: list[_Prices], now: list[_Prices]) -> None:
        """Add the change of each period of a group against the whole one right before it."""
        first = int(self._days.periods_of(np.array([number(self._days.first)]))[0])
        # Where the range cuts its first period, the whole of it is there too, for the second. The part, which is
        # compared with the period before, takes a place between the two: the last day before it.
        is_cut = any(period == first for period, _ in before)
        part = first - 1 if is_cut else first
        prices = before + [(part if period == first else period, found) for period, found in now]
        periods = sorted({period for period, _ in prices})
        table = table_of(prices)
        rows = index_rows(table.periods, table.panel, _QUESTION, 1.0, interval=True, cluster=table.item)
        for period, row in zip(periods, rows, strict=True):
            own = first if period == part else period
            is_shown = not (is_cut and period == first)
            if is_shown and row.compared_with == day_of(period_before(self._days, own)).isoformat():
                self._found[group[0], own, group[1]] = _change(row)

    def columns(self, key: Key) -> dict[str, Any]:
        """Return the columns of a row; the key's first group is the brand where the filter groups by brands."""
        change = self._found.get((key.currency, key.period, key.first_group), _UNKNOWN)
        return {
            "index_change": change.change,
            "index_change_low": change.low,
            "index_change_high": change.high,
            "share_matched": change.share_matched,
        }


def _change(row: IndexRow) -> PriceChange:
    digits = decimals(row.low, row.high)
    change, low, high = (
        None if value is None else round(value - 1, digits) for value in (row.index, row.low, row.high)
    )
    return PriceChange(change, low, high, None if row.share_matched is None else round(row.share_matched, 6))


def decimals(low: float | None, high: float | None) -> int:
    """Return how many decimals to show: two digits of the interval's width, six where it is unknown and at most."""
    if low is None or high is None:
        return _DECIMALS_MAX
    return min(max(1 - math.floor(math.log10(high - low)), 0), _DECIMALS_MAX)
