"""Cohort intelligence: the distribution of prices of brands and categories, by period and group."""

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import GroupedSeries, Key
from workers.analytics.reports.columns import (
    CHANNELS,
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    MONEY,
    ROUNDED_DISCOUNTS,
    Names,
    grouped_schema,
    in_currency_order,
    shares,
)
from workers.analytics.reports.filters import Filter, Tree, filter_of, with_defaults
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.unit_prices import UnitPrices
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.figures import METHOD as EXACT
from workers.analytics.rollups.figures import PERCENTS, Spread

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
    "channels.observations": "observations",
    "channels.share": "share of observations",
    **DISCOUNT_UNITS,
}
METHOD = f"{EXACT}; {OUTLIERS}; {DISCOUNT_METHOD}"
ROUNDING = dict.fromkeys(("mean", "stddev", "channels.share", *ROUNDED_DISCOUNTS), SIX_DECIMALS)


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute a cohort.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    with snapshot(connection):
        tree = Tree.read(connection) if _about_categories(parameters) else Tree({}, {})
        chosen = filter_of(connection, tree, parameters)
        days = range_of(connection, tree, chosen, with_defaults(parameters, granularity="month"))
        reader = Reader(connection, tree, days, report_progress, UnitPrices.asked(connection, parameters))
        chosen = reader.with_default_kind(chosen)
        series = reader.gather(chosen)
        aside = SetAside(reader, chosen)
        counts = aside.of(chosen)
        without = reader.without_content(chosen)
        names = Names.read(connection, tree, chosen, series.keys)
    report_progress("computing", 0, len(series.keys))
    rows = _rows(series, chosen, names, counts)
    report_progress("computing", rows.num_rows, rows.num_rows)
    return Answer(
        rows,
        days,
        series.days,
        UNITS,
        METHOD,
        ROUNDING,
        kind=chosen.kind,
        outliers=aside.summary(),
        unit_prices=without,
    )


def _about_categories(parameters: dict[str, Any]) -> bool:
    """Return whether a question of brands names categories too; else their tree need not be read."""
    grouped = "category" in (parameters.get("group_by") or ())
    return grouped or bool(parameters.get("category")) or not parameters.get("brand")


def _rows(gathered: GroupedSeries, chosen: Filter, names: Names, aside: dict[Key, int]) -> Rows:
    group_by = chosen.group_by
    groups = [names.of(group_by, key) for key in gathered.keys]
    order = in_currency_order(gathered.keys, groups)
    keys = [gathered.keys[segment] for segment in order]
    currencies = [key.currency for key in keys]
    discounts = gathered.discounts.rows(order)
    columns = {
        "period": _days([key.period for key in keys]),
        **{name: [groups[segment][name] for segment in order] for name in group_by},
        "currency": currencies,
        "kind": [chosen.kind] * len(keys),
        "items": gathered.items.take(order).tolist(),
        "set_aside": [aside.get(key, 0) for key in keys],
        **_prices(gathered.spread, order, currencies),
        "channels": shares(gathered.channels, order, names.channels),
        "first_day": _days(gathered.first_day.take(order)),
        "last_day": _days(gathered.last_day.take(order)),
        **{name: [row[name] for row in discounts] for name, _ in DISCOUNTS},
    }
    schema = grouped_schema(group_by, _FIGURES)
    return Rows(schema, [columns[name] for name in schema.names])


def _prices(figures: Spread, order: Array, currencies: list[str]) -> dict[str, list[Any]]:
    """Return the columns of the prices' distribution; `order` are the segments of the rows."""
    position_of = np.empty(len(order), "i8")
    position_of[figures.segment] = np.arange(len(order))
    positions = position_of.take(order)
    places = list(zip(positions.tolist(), currencies, strict=True))
    n = figures.n.take(positions).tolist()
    hundredths = figures.least * 100, *figures.hundredths.T, figures.most * 100
    return {
        "observations": n,
        "price_n": n,
        "mean": [figures.mean(*place) for place in places],
        "stddev": [figures.deviation(*place) for place in places],
        **{
            name: list(map(figures.amount, column.take(positions).tolist(), currencies))
            for name, column in zip(_EXACT, hundredths, strict=True)
        },
    }


def _days(days: Any) -> list[date]:
    """Return days, counted from EPOCH."""
    counted: list[date] = np.asarray(days, "M8[D]").tolist()
    return counted
