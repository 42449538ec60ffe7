"""Cohort intelligence: the distribution of prices of brands and categories, by period and group."""

from typing import Any

import pyarrow as pa

from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.results.rounding import SIX_DECIMALS
from workers.reports.aggregator import GroupedSeries, Key
from workers.reports.filters import Filter, Tree, filter_of, range_of
from workers.reports.periods import day_of
from workers.reports.query import ReportProgress, gather, settled, snapshot
from workers.reports.rendering import (
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    MONEY,
    ROUNDED_DISCOUNTS,
    Names,
    by_currency_order,
    coverage,
    shares,
)
from workers.reports.result import Answer
from workers.reports.set_aside import METHOD as OUTLIERS
from workers.reports.set_aside import SetAside
from workers.reports.statistics import METHOD as EXACT
from workers.reports.statistics import PERCENTS

_CHANNELS = pa.list_(pa.struct([("channel", pa.string()), ("observations", pa.int64()), ("share", pa.float64())]))
_FIGURES = [
    ("currency", pa.string()),
    ("kind", pa.string()),
    ("items", pa.int64()),
    ("observations", pa.int64()),
    ("price_n", pa.int64()),
    ("set_aside", pa.int64()),
    *((name, MONEY) for name in ("mean", "stddev", *(f"p{percent}" for percent in PERCENTS), "min", "max")),
    ("channels", _CHANNELS),
    ("first_day", pa.date32()),
    ("last_day", pa.date32()),
    *DISCOUNTS,
]
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
    with snapshot(connection):
        tree = Tree.read(connection) if _about_categories(parameters) else Tree({}, {})
        chosen = filter_of(connection, tree, parameters)
        if chosen.brands is None and chosen.categories is None:
            raise InvalidParameter("brand", "at least one `brand` or one `category` is needed")
        days = range_of(connection, chosen, {"granularity": "month", **_given(parameters)})
        chosen = settled(connection, tree, chosen, days)
        gathered = gather(connection, tree, chosen, days, report_progress)
        aside = SetAside(connection, tree, chosen, days)
        counts = aside.of(chosen, report_progress)
        report_progress("computing", 0, len(gathered.keys))
        names = Names.read(connection, tree, chosen, gathered.keys)
    table = _table(gathered, chosen, names, counts)
    report_progress("computing", table.num_rows, table.num_rows)
    covered = coverage(days, gathered.days)
    return Answer(
        table,
        days.first,
        days.last,
        covered,
        UNITS,
        METHOD,
        ROUNDING,
        kind=chosen.kind,
        outliers=aside.summary(),
        ended_by=days.ended_by,
    )


def _about_categories(parameters: dict[str, Any]) -> bool:
    """Return whether a question of brands names categories too; else their tree need not be read."""
    grouped = "category" in (parameters.get("group_by") or ())
    return grouped or bool(parameters.get("category")) or not parameters.get("brand")


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _table(gathered: GroupedSeries, chosen: Filter, names: Names, aside: dict[Key, int]) -> pa.Table:
    schema = pa.schema([("period", pa.date32()), *((name, pa.string()) for name in chosen.group_by), *_FIGURES])
    positions = {segment: position for position, segment in enumerate(gathered.spread.segment.tolist())}
    rows = []
    for segment, key in enumerate(gathered.keys):
        figures, position = gathered.spread, positions[segment]
        n = int(figures.n[position])
        groups = names.of(chosen.group_by, key)
        percentiles = {f"p{percent}": figures.percentile(position, percent, key.currency) for percent in PERCENTS}
        rows.append(
            {
                "period": day_of(key.period),
                **groups,
                "currency": key.currency,
                "kind": chosen.kind,
                "items": int(gathered.items[segment]),
                "observations": n,
                "price_n": n,
                "set_aside": aside.get(key, 0),
                "mean": figures.mean(position, key.currency),
                "stddev": figures.deviation(position, key.currency),
                **percentiles,
                "min": names.money(figures.least[position], key.currency),
                "max": names.money(figures.most[position], key.currency),
                "channels": shares(gathered.channels[segment], names.channels),
                "first_day": day_of(gathered.first_day[segment]),
                "last_day": day_of(gathered.last_day[segment]),
                **gathered.discounts.row(segment),
            }
        )
    rows.sort(key=by_currency_order(chosen.group_by))
    return pa.Table.from_pylist(rows, schema)
