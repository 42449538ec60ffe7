"""The aggregate index: elementary indices of categories, aggregated by an organization's own weights."""

from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import FOUR_DECIMALS, SIX_DECIMALS, Rows
from shared.calendar_periods import first_day
from shared.db.connect import Connection
from shared.errors import InvalidParameter, WeightsNotFound
from shared.price_index.aggregation import (
    AggregatedIndices,
    Elementary,
    Hierarchy,
    aggregate,
    contributions,
    round_to_sum,
)
from shared.price_index.offered import DEFAULT_AGGREGATED, OTHER_METHOD, UNITS_NEEDED
from shared.price_index.panel import Floats, Ints, PriceTable
from shared.price_index.question import IndexQuestion, needs_quantities
from shared.price_index.rows import comparisons
from shared.price_index.series import index_series
from shared.price_index.weights import WeightTable
from workers.analytics.reports.filters import SQL, Filter, Tree, filter_of, with_defaults
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.price_index import COMPARISONS_MAX, question_of
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.weighted_leaves import WeightedLeaves
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import starts_of

FIRST = 100.0
_DIGITS = 4
"""Of changes in per cent and contributions in percentage points."""
_COMPARED = {"": "the period before", "_year": "the same period of the year before"}
_CHANGES = tuple(f"{figure}{since}" for since in _COMPARED for figure in ("change", "contribution"))
SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("category", pa.string()),
        ("parent", pa.string()),
        ("currency", pa.string()),
        ("kind", pa.string()),
        ("weight", pa.float64()),
        ("index", pa.float64()),
        *((name, pa.float64()) for name in _CHANGES),
        ("imputed", pa.bool_()),
        ("share_imputed", pa.float64()),
        ("items", pa.int64()),
    ]
)
UNITS = {
    "weight": "share of the parent",
    "index": "price reference period = 100",
    **{f"change{since}": "per cent" for since in _COMPARED},
    **{f"contribution{since}": "percentage points of the parent's change" for since in _COMPARED},
    "share_imputed": "share of the weight",
    "items": "items",
}
ROUNDING = {
    **dict.fromkeys(("weight", "index", "share_imputed"), SIX_DECIMALS),
    **{f"change{since}": FOUR_DECIMALS for since in _COMPARED},
    **{
        f"contribution{since}": "to 4 decimals that add up to the parent's change, by the largest remainders"
        for since in _COMPARED
    },
}
_METHOD = (
    "the index of a leaf is {name} over the prices of its category or item{window}; that of a parent is the mean "
    "of its children's, weighted by their weights in prices of the price reference period (Lowe; Young if the weights "
    "were not price-updated to it); a child without an index in a period changes since the period before as its parent "
    "does (imputed), and when it has prices again, as its own prices did since it last had any; a contribution is the "
    f"change of weight times index by what all children of the parent cost before; {OUTLIERS}"
)


class _Vintage(NamedTuple):
    """A version of a table of weights: its tree, and what an answer says of it."""

    table: WeightTable
    meta: dict[str, object]

    @classmethod
    def read(cls, connection: Connection, parameters: dict[str, Any]) -> "_Vintage":
        """Read the version that the parameters name. Raises WeightsNotFound once it is deleted."""
        row = connection.execute(SQL.weights, (parameters["weights_id"],)).fetchone()
        if row is None:
            raise WeightsNotFound(parameters["weights"])
        name, version, reference, digest, text = row
        meta = {"name": name, "version": version, "sha256": digest, "price_reference": reference}
        return cls(WeightTable.stored(reference, text), meta)

    @property
    def hierarchy(self) -> Hierarchy:
        """The table as a tree of positions."""
        place = {row.code: position for position, row in enumerate(self.table.rows)}
        parent = np.array([-1 if row.parent is None else place[row.parent] for row in self.table.rows], "i8")
        return Hierarchy(tuple(place), parent, np.array([float(row.weight) for row in self.table.rows]))


class _Panel(NamedTuple):
    """The elementary indices of a currency by period, and how many items of each leaf have a price."""

    periods: list[date]
    elementary: Elementary
    items: Ints


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute an aggregate index.

    Raises WeightsNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    question = question_of(parameters, DEFAULT_AGGREGATED)
    parameters = with_defaults(parameters, granularity="month")
    with snapshot(connection):
        vintage, tree = _Vintage.read(connection, parameters), Tree.read(connection)
        leaves = WeightedLeaves.read(connection, tree, vintage.table.leaves)
        chosen = leaves.narrow(filter_of(connection, tree, {**parameters, "category": leaves.categories}))
        if needs_quantities(question):
            chosen = replace(chosen, kinds=OBSERVATION_KINDS["sale"])
        days, shown = _ranges(connection, tree, chosen, vintage.table.price_reference, parameters)
        reader = Reader(connection, tree, days, report_progress)
        chosen = reader.with_default_kind(chosen)
        tables = leaves.tables(reader, chosen, by_channel=parameters.get("match") != "item")
        if needs_quantities(question) and not tables and not days.awaits_data:
            raise InvalidParameter("method", f"{UNITS_NEEDED}, and nothing of this was sold; {OTHER_METHOD}")
        seen = {day for day in reader.gather(chosen).days if number(shown.first) <= day <= number(shown.last)}
        aside = SetAside(reader, chosen)
        aside.of(chosen)
    rows: list[dict[str, Any]] = []
    hierarchy = vintage.hierarchy
    for done, (currency, of_leaves) in enumerate(sorted(tables.items())):
        report_progress("computing", done, len(tables))
        panel = _panel(of_leaves, hierarchy, question)
        if panel.periods[0] != first_day(vintage.table.price_reference, days.granularity or "month"):
            fault = f"have no price in {currency} in their price reference period, {vintage.table.price_reference}"
            raise InvalidParameter("weights", f"{fault}; choose another currency, or upload weights of another period")
        common = {"currency": currency, "kind": chosen.kind}
        rows += [row | common for row in _rows(panel, hierarchy, days.granularity) if row["period"] >= shown.first]
    rows.sort(key=lambda row: (row["period"], row["currency"]))  # within both, parents come before children
    return Answer(
        Rows.of(rows, SCHEMA),
        shown,
        seen,
        UNITS,
        _METHOD.format(name=question.method.name, window=_window_told(question)),
        ROUNDING,
        kind=chosen.kind,
        outliers=aside.summary(),
        weights=vintage.meta,
    )


def _ranges(
    connection: Connection, tree: Tree, chosen: Filter, reference: date, parameters: dict[str, Any]
) -> tuple[Range, Range]:
    """Return the days that are read, from the price reference period on, and those that are shown: whole periods."""
    granularity = parameters["granularity"]
    base = first_day(reference, granularity)
    days = range_of(connection, tree, chosen, {**parameters, "from": base.isoformat()})
    asked = parameters.get("from")
    first = max(first_day(date.fromisoformat(asked), granularity), base) if asked else base
    if days.last < first:
        if parameters.get("to"):
            raise InvalidParameter("to", f"must not be before the weights' price reference period, {base}")
        empty = Range(date.fromisoformat(asked or base.isoformat()), first, granularity, awaits_data=True)
        return empty._replace(last=empty.first), empty._replace(last=empty.first)
    return days, days._replace(first=first)


def _panel(tables: dict[str, PriceTable], tree: Hierarchy, question: IndexQuestion) -> _Panel:
    """Return the elementary indices of all leaves over the periods in which any of them has a price."""
    labels = sorted({label for table in tables.values() for label in table.periods})
    place = {label: position for position, label in enumerate(labels)}
    shape = len(labels), len(tree.codes)
    relative, since, items = np.full(shape, np.nan), np.zeros(shape, "i8"), np.zeros(shape, "i8")
    for code, table in tables.items():
        if comparisons(table.panel, question) > COMPARISONS_MAX:
            raise InvalidParameter("granularity", "these are too many periods for so many items; take longer ones")
        node, rows = tree.codes.index(code), np.array([place[label] for label in table.periods])
        relative[rows, node], before = _relatives(table, question)
        since[rows, node] = rows[before]
        items[rows, node] = _items(table)
    for position in range(shape[1] - 1, 0, -1):  # leaves have no item in common
        items[:, tree.parent[position]] += items[:, position]
    return _Panel([date.fromisoformat(label) for label in labels], Elementary(relative, since), items)


def _relatives(table: PriceTable, question: IndexQuestion) -> tuple[Floats, Ints]:
    """Return the change of each period's prices, and the position of the period since which it is; NaN if unknown."""
    count = table.panel.periods
    before = np.maximum(np.arange(count) - 1, 0)
    if not question.over_window:
        steps = index_series(table.panel, replace(question, output="pop"))
        steps[0] = np.nan  # nothing was before it
        return steps, before
    series = index_series(table.panel, question)
    known = np.where(np.isnan(series), 0, np.arange(count))
    before[1:] = np.maximum.accumulate(known)[:-1]
    steps = series / series[before]
    steps[0] = np.nan
    return steps, before


def _items(table: PriceTable) -> Ints:
    """Return in how many items each period has a price; an item may have a column for each channel."""
    present = table.panel.present()
    assert table.item is not None
    counts: Ints = np.logical_or.reduceat(present, starts_of(table.item), axis=1).sum(axis=1)
    return counts


def _rows(panel: _Panel, tree: Hierarchy, granularity: str | None) -> list[dict[str, Any]]:
    """Return a row for each period and node."""
    found = aggregate(tree, panel.elementary)
    place = {period: position for position, period in enumerate(panel.periods)}
    within = tree.weight / np.where(tree.parent < 0, tree.weight, tree.sum_children(tree.weight)[tree.parent])
    rows = []
    for position, period in enumerate(panel.periods):
        earlier = {"": _period_before(period, granularity), "_year": _year_before(period, granularity)}
        changes = {
            since: _changes(tree, found, position, place.get(before) if before else None)
            for since, before in earlier.items()
        }
        imputed = _shares_imputed(tree, found, position)
        for node, code in enumerate(tree.codes):
            parent = int(tree.parent[node])
            row = {
                "period": period,
                "category": code,
                "parent": None if parent < 0 else tree.codes[parent],
                "weight": round(float(within[node]), 6),
                "index": _finite(FIRST * found.index[position, node], 6),
                "imputed": bool(found.imputed[position, node]),
                "share_imputed": round(float(imputed[node]), 6),
                "items": int(panel.items[position, node]),
            }
            for since, (change, contribution) in changes.items():
                row |= {f"change{since}": change[node], f"contribution{since}": contribution[node]}
            rows.append(row)
    return rows


def _changes(
    tree: Hierarchy, found: AggregatedIndices, position: int, before: int | None
) -> tuple[list[float | None], list[float | None]]:
    """Return the change of each node in per cent, and what it contributes to that of its parent; None where unknown."""
    count = len(tree.codes)
    nothing: list[float | None] = [None] * count
    if before is None or np.isnan(found.index[[position, before], 0]).any():
        return nothing, nothing
    unit = 10**_DIGITS
    exact = FIRST * unit * (found.index[position] / found.index[before] - 1)
    changes = [round(one) for one in exact.tolist()]
    parts = FIRST * unit * contributions(tree, found.index[position], found.index[before])
    shown = list(changes)  # the root's contribution is its own change
    for parent in np.unique(tree.parent[1:]):
        children = np.flatnonzero(tree.parent == parent)
        rounded = round_to_sum(parts[children].tolist(), changes[parent])
        for child, whole in zip(children.tolist(), rounded, strict=True):
            shown[child] = whole
    return [whole / unit for whole in changes], [whole / unit for whole in shown]


def _shares_imputed(tree: Hierarchy, found: AggregatedIndices, position: int) -> Floats:
    """Return how much of the weight of each node is of leaves that are imputed."""
    share = np.where(tree.is_leaf, found.imputed[position], 0.0)
    below = tree.sum_children(tree.weight)
    for level in tree.levels_up():
        np.add.at(share, tree.parent[level], tree.weight[level] * share[level] / below[tree.parent[level]])
    return share


def _period_before(period: date, granularity: str | None) -> date | None:
    """Return the first day of the period before, by the calendar; None where the whole range is one period."""
    return first_day(date.fromordinal(period.toordinal() - 1), granularity) if granularity else None


def _year_before(period: date, granularity: str | None) -> date | None:
    """Return the first day of the same period a year before; None of weeks and days, which no year repeats."""
    return period.replace(year=period.year - 1) if granularity in ("month", "quarter", "year") else None


def _finite(value: float, digits: int) -> float | None:
    return round(float(value), digits) if np.isfinite(value) else None


def _window_told(question: IndexQuestion) -> str:
    if not question.over_window:
        return ", chained"
    return "" if question.window is None else f", in windows of {question.window} periods that have data"
