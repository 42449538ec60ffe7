"""Seasons: the pattern of the months of a year in prices of the same items, and changes adjusted by it.

Changes of logarithms are regressed on dummies of the twelve months (M. C. Lovell, Seasonal adjustment of economic time
series and multiple regression analysis, Journal of the American Statistical Association 58, 1963). The F-test of the
regression is the test of stable seasonality (D. P. Lytras, R. M. Feldpausch, W. R. Bell, Determining seasonality: a
comparison of diagnostics from X-12-ARIMA, 2007).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS, Rows
from shared.analytics.seasonality import CHANGES_LEAST, MONTHS
from shared.db.connect import Connection
from shared.price_index.panel import Floats, Ints
from shared.price_index.rows import MATCHED_LEAST, student
from workers.analytics.reports.filters import Tree, filter_of
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import day_of
from workers.analytics.reports.price_tables import PricesOfPeriod, prices_by_period
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import numbered
from workers.analytics.rollups.item_prices import Cells

SIGNIFICANCE = 0.001
"""As of X-11, since changes next to each other are not independent."""
_NO_SPREAD = 1e-12  # of squares of logarithms: below it a sum is what rounding leaves
FIRST = 100.0
DEFAULT_YEARS = 10
SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("currency", pa.string()),
        ("kind", pa.string()),
        *((name, pa.float64()) for name in ("index", "adjusted_index", "change", "adjusted_change")),
        *((name, pa.float64()) for name in ("factor", "factor_low", "factor_high")),
        ("seasonal", pa.bool_()),
        ("p_value", pa.float64()),
        ("months", pa.int64()),
        ("items", pa.int64()),
        ("matched_items", pa.int64()),
    ]
)
UNITS = {
    **dict.fromkeys(("index", "adjusted_index"), "first period = 100"),
    **dict.fromkeys(("change", "adjusted_change"), "share of the prices of the month before"),
    **dict.fromkeys(("factor", "factor_low", "factor_high"), "ratio to the mean of a year"),
    "p_value": "probability",
    "months": "months",
    **dict.fromkeys(("items", "matched_items"), "items"),
}
_ROUNDED = ("index", "adjusted_index", "change", "adjusted_change", "factor", "factor_low", "factor_high", "p_value")
ROUNDING = dict.fromkeys(_ROUNDED, SIX_DECIMALS)
METHOD = (
    "change is that of the chained Jevons index of the prices that two months next to each other have in common, of "
    "three items at least; its logarithms are regressed on the months of the year; factors are the cumulated "
    "differences of the coefficients from their mean, with 95 % intervals of the regression, where the F-test of "
    "stable seasonality is significant at 0.1 % and the changes cover two whole years; adjusted figures are without "
    "the factor; "
    f"{OUTLIERS}"
)


@dataclass(frozen=True)
class SeasonalPattern:
    """The pattern of a series: `factors` by month of the year, January first, whose geometric mean is 1.

    `p_value` is the probability of differences as large between the months of a series without seasons.
    """

    p_value: float
    factors: Floats
    low: Floats
    high: Floats

    @property
    def is_significant(self) -> bool:
        """Whether there is a pattern to adjust by."""
        return self.p_value < SIGNIFICANCE


def seasonal_pattern(month: Ints, log_change: Floats) -> SeasonalPattern | None:
    """Return the pattern that changes of logarithms show; `month` is 0 for a change from December to January.

    None: the changes are fewer than those of two whole years, or one of the twelve months has none.
    """
    from scipy.special import fdtrc  # only here: most that import this package need no seasons

    n = np.bincount(month, minlength=MONTHS)
    if len(month) < CHANGES_LEAST or not n.all():
        return None
    means = np.bincount(month, log_change, MONTHS) / n
    within = float(((log_change - means.take(month)) ** 2).sum())
    between = float((n * (means - log_change.mean()) ** 2).sum())
    degrees = len(month) - MONTHS
    if between < _NO_SPREAD:
        p_value = 1.0  # nothing differs between the months
    else:
        p_value = float(fdtrc(MONTHS - 1, degrees, between / (MONTHS - 1) / (within / degrees))) if within else 0.0
    # From the means of changes to levels: without their mean, cumulated, and about the mean of the year.
    center = np.eye(MONTHS) - 1 / MONTHS
    to_levels = center @ np.tril(np.ones((MONTHS, MONTHS))) @ center
    levels = to_levels @ means
    half = student(np.array(degrees)) * np.sqrt(within / degrees * (to_levels**2 / n).sum(axis=1))
    return SeasonalPattern(p_value, np.exp(levels), np.exp(levels - half), np.exp(levels + half))


class _Month(NamedTuple):
    """A month: how many items have a price, and how the prices in common with the month before it changed."""

    period: int
    items: int
    matched_items: int | None
    log_change: float | None


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute seasonal patterns.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    with snapshot(connection):
        tree = Tree.read(connection)
        chosen = filter_of(connection, tree, parameters)
        days = range_of(connection, tree, chosen, {**parameters, "granularity": "month"})
        if not parameters.get("from") and not days.awaits_data:
            days = days._replace(first=days.last.replace(year=days.last.year - DEFAULT_YEARS, day=1))
        reader = Reader(connection, tree, days, report_progress)
        chosen = reader.with_default_kind(chosen)
        by_group, seen = prices_by_period(reader, chosen), reader.gather(chosen).days
        aside = SetAside(reader, chosen)
        aside.of(chosen)
    rows: list[dict[str, Any]] = []
    for done, ((currency, _), prices) in enumerate(sorted(by_group.items())):
        report_progress("computing", done, len(by_group))
        rows += ({"currency": currency, "kind": chosen.kind, **row} for row in _rows(_months(prices)))
    rows.sort(key=lambda row: (row["period"], row["currency"]))
    return Answer(
        Rows.of(rows, SCHEMA), days, seen, UNITS, METHOD, ROUNDING, kind=chosen.kind, outliers=aside.summary()
    )


def _months(prices: list[PricesOfPeriod]) -> list[_Month]:
    """Return the months of one group in their order; a month may come in several parts."""
    cells = Cells.of([part for _, part in prices])
    item = numbered(cells.item)[1]
    by_month: dict[int, list[int]] = {}
    for place, (period, _) in enumerate(prices):
        by_month.setdefault(period, []).append(place)
    before, months = np.full(len(item), np.nan), []
    period_before: int | None = None
    for period in sorted(by_month):
        logs = np.full(len(item), np.nan)
        for place in by_month[period]:
            logs[cells.places[place]] = np.log(prices[place][1].price)
        next_to = period_before is not None and _number_of_month(period) == _number_of_month(period_before) + 1
        change = logs - before
        matched = np.flatnonzero(~np.isnan(change))
        items, matched_items = (len(np.unique(item.take(rows))) for rows in (np.flatnonzero(~np.isnan(logs)), matched))
        is_known = next_to and matched_items >= MATCHED_LEAST
        log_change = float(change.take(matched).mean()) if is_known else None
        months.append(_Month(period, items, matched_items if next_to else None, log_change))
        before, period_before = logs, period
    return months


def _rows(months: list[_Month]) -> list[dict[str, Any]]:
    """Return the rows of one currency."""
    changes = [(_month_of_year(one.period), one.log_change) for one in months if one.log_change is not None]
    pattern = seasonal_pattern(
        np.array([month for month, _ in changes], "i8"), np.array([change for _, change in changes], "f8")
    )
    is_seasonal = pattern is not None and pattern.is_significant
    level: float | None = 0.0
    rows = []
    for place, month in enumerate(months):
        if place:
            level = None if level is None or month.log_change is None else level + month.log_change
        row: dict[str, Any] = {
            "period": day_of(month.period),
            "index": _rounded(level, FIRST),
            "change": _rounded(month.log_change, less=1),
            "seasonal": is_seasonal if pattern else None,
            "p_value": round(pattern.p_value, 6) if pattern else None,
            "months": len(changes),
            "items": month.items,
            "matched_items": month.matched_items,
        }
        if pattern and is_seasonal:
            row |= _adjusted(month, level, pattern)
        rows.append(row)
    return rows


def _adjusted(month: _Month, level: float | None, pattern: SeasonalPattern) -> dict[str, Any]:
    """Return the columns of a row that only a significant pattern has."""
    here = _month_of_year(month.period)
    factors = np.log(pattern.factors)
    seasonal_change = factors[here] - factors[here - 1]  # of January from that of December
    return {
        "factor": round(float(pattern.factors[here]), 6),
        "factor_low": round(float(pattern.low[here]), 6),
        "factor_high": round(float(pattern.high[here]), 6),
        "adjusted_index": _rounded(None if level is None else level - factors[here], FIRST),
        "adjusted_change": _rounded(None if month.log_change is None else month.log_change - seasonal_change, less=1),
    }


def _rounded(logarithm: float | None, scale: float = 1.0, less: float = 0.0) -> float | None:
    return None if logarithm is None else round(scale * float(np.exp(logarithm)) - less, 6)


def _number_of_month(period: int) -> int:
    day = day_of(period)
    return day.year * MONTHS + day.month


def _month_of_year(period: int) -> int:
    return day_of(period).month - 1
