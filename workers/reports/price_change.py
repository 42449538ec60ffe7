"""The change of prices of the same items against the period before; insights show it with that of the median."""

import hashlib
import json
from collections import defaultdict
from typing import Any, NamedTuple

import pyarrow as pa

from shared.db.connect import Connection
from shared.price_index.question import Question, method_named
from shared.price_index.rows import IndexRow, Resampling, index_rows
from workers.reports.aggregator import Key
from workers.reports.filters import SQL, Filter, Tree
from workers.reports.item_prices import ByPeriod, prices_by_period, table_of
from workers.reports.periods import Range, day_of
from workers.reports.query import ReportProgress
from workers.reports.ranking import period_before

REPLICATES = 200
PRICE_CHANGE = [
    ("index_change", pa.float64()),
    ("index_change_low", pa.float64()),
    ("index_change_high", pa.float64()),
    ("share_matched", pa.float64()),
    ("median_disagrees", pa.bool_()),
]
ROUNDED_PRICE_CHANGE = tuple(name for name, _ in PRICE_CHANGE[:4])
PRICE_CHANGE_UNITS = {
    **dict.fromkeys(("index_change", "index_change_low", "index_change_high"), "ratio"),
    "share_matched": "share of items",
}
PRICE_CHANGE_METHOD = (
    "index_change is the Jevons index of the items that both periods have, less 1, between 95 % bounds of "
    f"{REPLICATES} bootstrap samples of items; median_disagrees where median_change is outside them"
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

    def __init__(
        self,
        connection: Connection,
        tree: Tree,
        chosen: Filter,
        days: Range,
        seed: int,
        report_progress: ReportProgress,
    ) -> None:
        self._days = days
        self._found: dict[tuple[str, int, int], PriceChange] = {}
        if len(chosen.kinds) != 1:
            return
        by_group: ByPeriod = defaultdict(list)
        for span in (days.before(), days):
            for group, prices in prices_by_period(connection, tree, chosen, span, report_progress).items():
                by_group[group] += prices
        for (currency, number), prices in by_group.items():
            periods = sorted({period for period, _ in prices})
            table = table_of(prices)
            rows = index_rows(table.periods, table.panel, _QUESTION, 1.0, Resampling(REPLICATES, seed))
            for period, row in zip(periods, rows, strict=True):
                before = day_of(period_before(days, period)).isoformat()
                if row.compared_with == before:
                    self._found[currency, period, number] = _change(row)

    def columns(self, key: Key, median_change: float | None) -> dict[str, Any]:
        """Return the columns of a row; the key's first group is the brand where the filter groups by brands."""
        change = self._found.get((key.currency, key.period, key.first_group), _UNKNOWN)
        return {
            "index_change": change.change,
            "index_change_low": change.low,
            "index_change_high": change.high,
            "share_matched": change.share_matched,
            "median_disagrees": disagrees(median_change, change.low, change.high),
        }


def _change(row: IndexRow) -> PriceChange:
    change, low, high = (None if value is None else round(value - 1, 6) for value in (row.index, row.low, row.high))
    return PriceChange(change, low, high, None if row.share_matched is None else round(row.share_matched, 6))


def seed_of(connection: Connection, parameters: dict[str, Any]) -> int:
    """Return the same seed of a bootstrap for the same question of the same data_version."""
    row = connection.execute(SQL.data_version).fetchone()
    # Conversion comes after the statistics, so it must not draw other samples.
    requested = {name: value for name, value in parameters.items() if name not in ("convert", "rates")}
    text = json.dumps([requested, row and row[0]], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def disagrees(value: float | None, low: float | None, high: float | None) -> bool | None:
    """Return whether a value is outside the interval, all rounded as they are shown; None where one is unknown."""
    if value is None or low is None or high is None:
        return None
    return not round(low, 6) <= round(value, 6) <= round(high, 6)
