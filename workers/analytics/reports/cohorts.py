"""Cohort intelligence: the distribution of prices of brands and categories, by period and group."""

from datetime import date
from functools import cache
from operator import mul
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from shared.analytics.observations import KIND_OF_LETTER, OBSERVATION_KINDS
from shared.analytics.outliers import MODES
from shared.analytics.results import SIX_DECIMALS, Columns
from shared.db.connect import Connection
from shared.db.copy_binary import text_array
from workers.analytics.reports.aggregator import Collector, GroupedSeries, Key, Range, number
from workers.analytics.reports.filters import SQL, Tree, filter_of, with_defaults
from workers.analytics.reports.query import Reader, ReportProgress, add_rollups, snapshot
from workers.analytics.reports.result import (
    CHANNELS,
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    MONEY,
    ROUNDED_DISCOUNTS,
    Answer,
    Names,
    Outliers,
    SetAside,
    in_currency_order,
    shares,
)
from workers.analytics.reports.result import METHOD as OUTLIERS
from workers.analytics.reports.window import range_of, whole_months
from workers.analytics.rollups.codec import Array
from workers.analytics.rollups.figures import METHOD as EXACT
from workers.analytics.rollups.figures import PERCENTS, Spread, millionths_of_hundredth

# Cohorts of brands or categories by whole months: all that the answer needs, in one statement.
#
# A small cohort costs little more than its round trips and the server's work on each statement, so these most common
# questions have a statement of their own. It sees one state of the index without a transaction.


_SCOPES = {"brand": "b", "category": "t"}
Row = tuple[Any, ...]


class Cohort(NamedTuple):
    """What the rows of a cohort are made of: its segments, names for them, and how many outliers each has."""

    days: Range
    kind: str
    series: GroupedSeries
    names: Names
    set_aside: dict[Key, int]
    outliers: Outliers


def read_whole_months(
    connection: Connection, parameters: dict[str, Any], days: Range, report_progress: ReportProgress
) -> Cohort | None:
    """Return the cohort of whole months; None where a name is unknown or only single observations answer.

    Raises what `report_progress` raises to stop it.
    """
    name = _answered_by(parameters)
    if name is None:
        return None
    report_progress("reading", 0, None)
    named, grouped = list(dict.fromkeys(parameters[name])), bool(parameters.get("group_by"))
    kinds = OBSERVATION_KINDS[parameters.get("kind") or "both"]
    strata = [*kinds, *(kind.upper() for kind in kinds)]
    tops = [code for code in named if name == "brand" or not any(code.startswith(f"{other}.") for other in named)]
    # As text: the driver takes 15 µs to find the type of each list.
    arrays = map(text_array, (named, tops, strata))
    values = (_SCOPES[name], days.first, days.last, parameters.get("currency"), *arrays)
    rows = connection.cursor(binary=True).execute(SQL.whole_months, values).fetchall()
    ids, codes = (msgspec.json.decode(text or "{}") for text in rows[0][:2])
    if len(ids) < len(named):
        return None
    names = Names({number: slug for slug, number in ids.items()}, {}, {int(id): code for id, code in codes.items()})
    rollups = [row[2:] for row in rows if row[2] is not None]
    kind = next((kind for kind in kinds if any(stratum == kind for stratum, *_ in rollups)), kinds[0])
    collector, set_aside = Collector(days), _set_aside(rollups, kind, grouped=grouped)
    add_rollups(collector, (row[2:] for row in rollups if row[0] == kind), grouped=grouped)
    outliers = Outliers(MODES[False], sum(set_aside.values()))
    kind_name = KIND_OF_LETTER[kind]
    return Cohort(days, kind_name, collector.segments(), names, set_aside, outliers)


def _answered_by(parameters: dict[str, Any]) -> str | None:
    """Return whether rollups of brands or of categories answer a question of whole months; None: neither."""
    names = [name for name in _SCOPES if parameters.get(name)]
    groups = parameters.get("group_by") or []
    if len(names) != 1 or groups not in ([], names[:1] if names == ["brand"] else []) or parameters.get("channel"):
        return None
    mixed = parameters.get("kind") not in (None, "listing", "sale") or parameters.get("outliers") == "include"
    return None if mixed else names[0]


def _set_aside(rollups: list[Row], kind: str, *, grouped: bool) -> dict[Key, int]:
    """Return how many outliers of a kind each segment has; a segment without any is left out."""
    counts: dict[Key, int] = {}
    for stratum, n, group_id, month, currency, *_ in rollups:
        if stratum == kind.upper():
            key = Key(currency, number(month), group_id if grouped else 0, 0)
            counts[key] = counts.get(key, 0) + n
    return counts


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
    days = whole_months(parameters)
    cohort = read_whole_months(connection, parameters, days, report_progress) if days else None
    cohort = cohort or _read(connection, parameters, report_progress)
    report_progress("computing", 0, len(cohort.series.keys))
    rows = _rows(cohort.series, cohort.kind, tuple(parameters.get("group_by") or ()), cohort.names, cohort.set_aside)
    report_progress("computing", rows.num_rows, rows.num_rows)
    seen = cohort.series.days
    return Answer(rows, cohort.days, seen, UNITS, METHOD, ROUNDING, kind=cohort.kind, outliers=cohort.outliers)


def _read(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Cohort:
    with snapshot(connection):
        tree = Tree.read(connection) if _about_categories(parameters) else Tree({}, {})
        chosen = filter_of(connection, tree, parameters)
        days = range_of(connection, tree, chosen, with_defaults(parameters, granularity="month"))
        reader = Reader(connection, tree, days, report_progress)
        chosen = reader.with_default_kind(chosen)
        series = reader.gather(chosen)
        aside = SetAside(reader, chosen)
        counts = aside.of(chosen)
        names = Names.read(connection, tree, chosen, series.keys)
    return Cohort(days, chosen.kind, series, names, counts, aside.summary())


def _about_categories(parameters: dict[str, Any]) -> bool:
    """Return whether a question of brands names categories too; else their tree need not be read."""
    grouped = "category" in (parameters.get("group_by") or ())
    return grouped or bool(parameters.get("category")) or not parameters.get("brand")


@cache
def _schema(group_by: tuple[str, ...]) -> pa.Schema:
    return pa.schema([("period", pa.date32()), *((name, pa.string()) for name in group_by), *_FIGURES])


def _rows(
    gathered: GroupedSeries, kind: str, group_by: tuple[str, ...], names: Names, aside: dict[Key, int]
) -> Columns:
    groups = [names.of(group_by, key) if group_by else {} for key in gathered.keys]
    order = in_currency_order(gathered.keys, groups)
    keys = [gathered.keys[segment] for segment in order]
    currencies = [key.currency for key in keys]
    discounts = gathered.discounts.rows(order)
    columns = {
        "period": _days([key.period for key in keys]),
        **{name: [groups[segment][name] for segment in order] for name in group_by},
        "currency": currencies,
        "kind": [kind] * len(keys),
        "items": gathered.items.take(order).tolist(),
        "set_aside": [aside.get(key, 0) for key in keys],
        **_prices(gathered.spread, order, currencies),
        "channels": shares(gathered.channels, order, names.channels),
        "first_day": _days(gathered.first_day.take(order)),
        "last_day": _days(gathered.last_day.take(order)),
        **{name: [row[name] for row in discounts] for name, _ in DISCOUNTS},
    }
    schema = _schema(group_by)
    return Columns(schema, [columns[name] for name in schema.names])


def _prices(figures: Spread, order: Array, currencies: list[str]) -> dict[str, list[Any]]:
    """Return the columns of the prices' distribution, amounts in millionths; `order` are the segments of the rows."""
    position_of = np.empty(len(order), "i8")
    position_of[figures.segment] = np.arange(len(order))
    positions = position_of.take(order)
    numbered = list(zip(positions.tolist(), currencies, strict=True))
    n = figures.n.take(positions).tolist()
    factors = [millionths_of_hundredth(currency) for currency in currencies]
    hundredths = figures.least * 100, *figures.hundredths.T, figures.most * 100
    return {
        "observations": n,
        "price_n": n,
        "mean": [figures.mean(*place) for place in numbered],
        "stddev": [figures.deviation(*place) for place in numbered],
        # As Python's own integers: millionths may leave 63 bits.
        **{
            name: list(map(mul, column.take(positions).tolist(), factors))
            for name, column in zip(_EXACT, hundredths, strict=True)
        },
    }


def _days(days: Any) -> list[date]:
    """Return days, counted from EPOCH."""
    counted: list[date] = np.asarray(days, "M8[D]").tolist()
    return counted
