"""What a price index compares: a price for each item, channel and period, stored by month or of single observations."""

from collections import defaultdict
from datetime import date

import numpy as np

from shared.analytics.observations import OBSERVATION_KINDS
from shared.errors import InvalidParameter
from shared.price_index.panel import Panel, PriceTable, cell_prices
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.periods import day_of, number
from workers.analytics.reports.query import Reader, rollups_with_entries
from workers.analytics.reports.unit_prices import UnitPrices
from workers.analytics.rollups.arrays import Array, coded, joined, order_by, starts_of
from workers.analytics.rollups.item_prices import Cells, ItemPrices, unpacked

CELLS_MAX = 60_000_000
Group = tuple[str, int]
"""A currency, and the brand where the filter groups by brands, else 0."""
PricesOfPeriod = tuple[int, ItemPrices]
ByPeriod = dict[Group, list[PricesOfPeriod]]


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
    if reader.unit_prices:
        by_group = {group: _per_unit(prices, reader.unit_prices) for group, prices in by_group.items()}
    return {group: prices for group, prices in by_group.items() if prices}


def _per_unit(prices: list[PricesOfPeriod], unit_prices: UnitPrices) -> list[PricesOfPeriod]:
    """Return prices for a unit and amounts sold in it, of items that state a content; their products stay the same."""
    by_period = []
    for period, of_items in prices:
        held = unit_prices.contents(of_items.item)
        kept = np.flatnonzero(held.numerator)
        if len(kept):
            amount = held.take(kept).amount
            item, channel, price, units = (column.take(kept) for column in of_items)
            by_period.append((period, ItemPrices(item, channel, price / amount, units * amount)))
    return by_period


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
    sales = chosen.kinds == OBSERVATION_KINDS["sale"]
    for group, parts in columns.items():
        by_group[group] += _by_period(*joined(parts), sales=sales)


def _by_period(
    period: Array, item: Array, channel: Array, price: Array, units: Array, *, sales: bool
) -> list[tuple[int, ItemPrices]]:
    order = order_by(period - period.min(initial=0), coded(item)[1], channel)
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
    cells = Cells.of([prices for _, prices in by_period])
    shape = len(periods), len(cells.item)
    if shape[0] * shape[1] > CELLS_MAX:
        raise InvalidParameter("granularity", "these are too many periods for so many items; take longer ones")
    table = np.full(shape, np.nan)
    units = np.zeros(shape) if any(prices.units.any() for _, prices in by_period) else None
    for (period, prices), place in zip(by_period, cells.places, strict=True):
        row = periods.index(period)
        table[row, place] = prices.price
        if units is not None:
            units[row, place] = prices.units
    return PriceTable([day_of(period).isoformat() for period in periods], Panel(table, units), cells.item)
