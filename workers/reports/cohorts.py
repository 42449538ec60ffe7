"""Cohort intelligence: the distribution of prices of brands and categories, by period and group."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.results.rounding import SIX_DECIMALS
from workers.reports.aggregator import GroupedSeries, Key
from workers.reports.filters import Tree, filter_of, range_of, whole_months, with_defaults
from workers.reports.query import ReportProgress, gather, settled, snapshot
from workers.reports.rendering import (
    CHANNELS,
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    MONEY,
    ROUNDED_DISCOUNTS,
    Names,
    coverage,
    exact_money,
    in_currency_order,
    money,
    shares,
)
from workers.reports.result import Answer
from workers.reports.set_aside import METHOD as OUTLIERS
from workers.reports.set_aside import SetAside
from workers.reports.whole_months import Cohort, read_whole_months
from workers.rollups.statistics import METHOD as EXACT
from workers.rollups.statistics import PERCENTS, Spread

_FIGURES = [
    ("currency", pa.string()),
    ("kind", pa.string()),
    ("items", pa.int64()),
    ("observations", pa.int64()),
    ("price_n", pa.int64()),
    ("set_aside", pa.int64()),
    *((name, MONEY) for name in ("mean", "stddev", *(f"p{percent}" for percent in PERCENTS), "min", "max")),
    ("channels", CHANNELS),
    ("first_day", pa.date32()),
    ("last_day", pa.date32()),
    *DISCOUNTS,
]
_EXACT = ("min", *(f"p{percent}" for percent in PERCENTS), "max")
UNITS = {
    **dict.fromkeys(("mean", "stddev", "p10", "p25", "p50", "p75", "p90", "min", "max"), "currency"),
    "items": "items",
    "observations": "observations",
    "price_n": "observations",
    "set_aside": "observations",
    "channels.share": "share of observations",
    **DISCOUNT_UNITS,
}
METHOD = f"{EXACT}; {OUTLIERS}; {DISCOUNT_METHOD}"
ROUNDING = dict.fromkeys(("mean", "stddev", "channels.share", *ROUNDED_DISCOUNTS), SIX_DECIMALS)


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute a cohort.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    days = whole_months(parameters)
    cohort = read_whole_months(connection, parameters, days, report_progress) if days else None
    cohort = cohort or _read(connection, parameters, report_progress)
    report_progress("computing", 0, len(cohort.series.keys))
    table = _table(cohort.series, cohort.kind, tuple(parameters.get("group_by") or ()), cohort.names, cohort.set_aside)
    report_progress("computing", table.num_rows, table.num_rows)
    return Answer(
        table,
        cohort.days.first,
        cohort.days.last,
        coverage(cohort.days, cohort.series.days),
        UNITS,
        METHOD,
        ROUNDING,
        kind=cohort.kind,
        outliers=cohort.outliers,
        ended_by=cohort.days.ended_by,
    )


def _read(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Cohort:
    with snapshot(connection):
        tree = Tree.read(connection) if _about_categories(parameters) else Tree({}, {})
        chosen = filter_of(connection, tree, parameters)
        if chosen.brands is None and chosen.categories is None:
            raise InvalidParameter("brand", "at least one `brand` or one `category` is needed")
        days = range_of(connection, chosen, with_defaults(parameters, granularity="month"))
        chosen = settled(connection, tree, chosen, days)
        series = gather(connection, tree, chosen, days, report_progress)
        aside = SetAside(connection, tree, chosen, days)
        counts = aside.of(chosen, report_progress)
        names = Names.read(connection, tree, chosen, series.keys)
    return Cohort(days, chosen.kind, series, names, counts, aside.summary())


def _about_categories(parameters: dict[str, Any]) -> bool:
    """Return whether a question of brands names categories too; else their tree need not be read."""
    grouped = "category" in (parameters.get("group_by") or ())
    return grouped or bool(parameters.get("category")) or not parameters.get("brand")


@cache
def _schema(group_by: tuple[str, ...]) -> pa.Schema:
    return pa.schema(_columns(group_by))


def _columns(group_by: tuple[str, ...]) -> list[tuple[str, pa.DataType]]:
    return [("period", pa.date32()), *((name, pa.string()) for name in group_by), *_FIGURES]


def _table(
    gathered: GroupedSeries, kind: str, group_by: tuple[str, ...], names: Names, aside: dict[Key, int]
) -> pa.Table:
    columns_of = _columns(group_by)
    groups = [names.of(group_by, key) for key in gathered.keys]
    order = in_currency_order(gathered.keys, groups)
    keys = [gathered.keys[segment] for segment in order]
    discounts = [gathered.discounts.row(segment) for segment in order]
    columns = {
        "period": _days([key.period for key in keys]),
        **{name: [groups[segment][name] for segment in order] for name in group_by},
        "currency": [key.currency for key in keys],
        "kind": [kind] * len(keys),
        "items": gathered.items[order],
        "set_aside": [aside.get(key, 0) for key in keys],
        **_prices(gathered.spread, order, [key.currency for key in keys]),
        "channels": shares(gathered.channels, order, names.channels),
        "first_day": _days(gathered.first_day[order]),
        "last_day": _days(gathered.last_day[order]),
        **{name: [row[name] for row in discounts] for name, _ in DISCOUNTS},
    }
    arrays = [
        columns[name] if isinstance(columns[name], pa.Array) else pa.array(columns[name], kind)
        for name, kind in columns_of
    ]
    return pa.Table.from_arrays(arrays, schema=_schema(group_by))


def _prices(figures: Spread, order: list[int], currencies: list[str]) -> dict[str, Any]:
    """Return the columns of the prices' distribution; `order` are the segments of the rows."""
    positions = np.empty(len(order), "i8")
    positions[figures.segment] = np.arange(len(order))
    positions = positions.take(order)
    numbered = list(zip(positions.tolist(), currencies, strict=True))
    n = pa.array(figures.n.take(positions))
    hundredths = np.empty((len(_EXACT), len(order)), "i8")
    hundredths[0], hundredths[-1] = (column.take(positions) * 100 for column in (figures.least, figures.most))
    hundredths[1:-1] = figures.hundredths.take(positions, axis=0).T
    return {
        "observations": n,
        "price_n": n,
        "mean": money([figures.mean(*one) for one in numbered]),
        "stddev": money([figures.deviation(*one) for one in numbered]),
        **dict(zip(_EXACT, exact_money(hundredths, currencies), strict=True)),
    }


def _days(days: Any) -> Any:
    """Return days, counted from EPOCH, as a column."""
    return pa.Array.from_buffers(pa.date32(), len(days), [None, pa.py_buffer(np.asarray(days, "i4"))])
