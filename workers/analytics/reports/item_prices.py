"""Reading what a price index compares: one price an item and period, kept by month or made of single observations."""

from collections import defaultdict
from datetime import date

import numpy as np

from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.price_index.panel import Panel, PriceTable, cell_prices
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.query import ReportProgress, rollups_with_entries, wanted_entries
from workers.analytics.rollups.codec import Array, order_by, starts_of
from workers.analytics.rollups.figures import joined
from workers.analytics.rollups.item_prices import ItemPrices, unpacked

CELLS_MAX = 60_000_000
Group = tuple[str, int]
"""A currency, and the brand where the filter groups by brands, else 0."""
ByPeriod = dict[Group, list[tuple[int, ItemPrices]]]


def price_tables(
    connection: Connection, tree: Tree, chosen: Filter, days: Range, report_progress: ReportProgress
) -> dict[Group, PriceTable]:
    """Return the prices of a filter of one kind by group; periods without a price above zero are not in them.

    `report_progress` is called before each month and may raise to stop. Raises InvalidParameter for more than CELLS_MAX
    prices.
    """
    by_group = prices_by_period(connection, tree, chosen, days, report_progress)
    return {group: table_of(prices) for group, prices in sorted(by_group.items())}


def prices_by_period(
    connection: Connection, tree: Tree, chosen: Filter, days: Range, report_progress: ReportProgress
) -> ByPeriod:
    """Return, for each group that has any, the periods and the prices in them; a period may come in several parts."""
    months = list(days.months())
    # Of two strata, an item may be in both: only entries make one price of them.
    kept = chosen.channels is None and (chosen.brands is None or chosen.categories is None) and len(chosen.strata) == 1
    whole = [month for month in months if kept and days.holds_month(month)]
    by_group = _kept(connection, tree, chosen, whole, report_progress) if whole else defaultdict(list)
    rest = [month for month in months if month not in whole]
    for group, prices in _observed(connection, tree, chosen, days, rest, report_progress).items():
        by_group[group] += prices
    report_progress("reading", len(months), len(months))
    return {group: prices for group, prices in by_group.items() if prices}


def _kept(
    connection: Connection, tree: Tree, chosen: Filter, months: list[date], report_progress: ReportProgress
) -> ByPeriod:
    scope, ids, _ = rollups_with_entries(chosen, tree)
    by_group: ByPeriod = defaultdict(list)
    values = (scope, months, ids, chosen.currency, list(chosen.strata))
    before: date | None = None
    for group_id, month, currency, packed in connection.cursor(binary=True).execute(SQL.item_prices, values):
        if month != before:
            report_progress("reading", months.index(month), len(months))
            before = month
        prices = unpacked(packed)
        if len(prices.item):
            by_group[currency, group_id if chosen.group_by else 0].append((number(month), prices))
    return by_group


def _observed(
    connection: Connection, tree: Tree, chosen: Filter, days: Range, months: list[date], report_progress: ReportProgress
) -> ByPeriod:
    scope, ids, others = rollups_with_entries(chosen, tree)
    columns: dict[Group, list[tuple[Array, ...]]] = defaultdict(list)
    for done, month in enumerate(months):
        report_progress("reading", done, len(months))
        values = (scope, month, ids, chosen.currency, list(chosen.strata), True)
        for group_id, currency, packed, item_ids, _ in connection.cursor(binary=True).execute(SQL.entries, values):
            price, position, _, day, _, units, _ = wanted_entries(packed, others, chosen, days, month)
            period = days.periods_of(number(month) - 1 + day.astype("i8"))
            item = np.frombuffer(item_ids, "<i8")[position]
            columns[currency, group_id if chosen.group_by else 0].append((period, item, price, units))
    sales = chosen.kinds == ("s",)
    return {group: _by_period(*joined(parts), sales=sales) for group, parts in columns.items()}


def _by_period(period: Array, item: Array, price: Array, units: Array, *, sales: bool) -> list[tuple[int, ItemPrices]]:
    """Return one price for each item of each period."""
    order = order_by(period, item)
    period, item = period[order], item[order]
    starts = starts_of(period, item)
    prices, sold = cell_prices(starts, price[order].astype("f8"), units[order].astype("f8") if sales else None)
    amounts = np.zeros(len(prices)) if sold is None else sold
    period, item = period[starts], item[starts]
    bounds = np.append(starts_of(period), len(period))
    by_period = []
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        one = ItemPrices(item[start:stop], np.nan_to_num(prices[start:stop]), amounts[start:stop]).priced()
        if len(one.item):
            by_period.append((int(period[start]), one))
    return by_period


def table_of(by_period: list[tuple[int, ItemPrices]]) -> PriceTable:
    """Return periods and their prices as one table. Raises InvalidParameter for more than CELLS_MAX prices."""
    periods = sorted({period for period, _ in by_period})
    items = np.unique(np.concatenate([prices.item for _, prices in by_period]))
    if len(periods) * len(items) > CELLS_MAX:
        raise InvalidParameter("granularity", "these are too many periods for so many items; take longer ones")
    table = np.full((len(periods), len(items)), np.nan)
    units = np.zeros((len(periods), len(items))) if any(prices.units.any() for _, prices in by_period) else None
    for period, prices in by_period:
        row, position = periods.index(period), np.searchsorted(items, prices.item)
        table[row, position] = prices.price
        if units is not None:
            units[row, position] = prices.units
    return PriceTable([day_of(period).isoformat() for period in periods], Panel(table, units))
