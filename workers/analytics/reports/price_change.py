"""The change of prices of the same items against the period before; insights show it with that of the median."""

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS
from shared.calendar_periods import first_day
from shared.price_index.question import IndexQuestion, method_named
from shared.price_index.rows import IndexRow, index_rows
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.filters import Filter
from workers.analytics.reports.intervals import BY_INTERVAL, decimals
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.price_tables import Group, PricesOfPeriod, prices_by_period, table_of
from workers.analytics.reports.query import Reader

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
_QUESTION = IndexQuestion(method_named("jevons"), output="pop")


def period_before(days: Range, period: int) -> int:
    """Return the start of the period before one."""
    if days.granularity is None:
        return number(days.before().first)
    return number(first_day(day_of(period - 1), days.granularity))


def change(now: Decimal, before: Decimal | None) -> float | None:
    """Return by how much an amount changed, 0.1 being a tenth more; None where there was none before."""
    return round(float(now / before) - 1, 6) if before else None


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

    def _compare(self, group: Group, before: list[PricesOfPeriod], now: list[PricesOfPeriod]) -> None:
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
