"""Sustainability rollup: the footprint of the units sold, or of the articles in the assortment."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.footprint import BASES
from shared.indicators import CODES, INDICATORS
from shared.results.rounding import NINE_DIGITS, SIX_DECIMALS
from shared.uncertainty.displacement import requested_displacement
from workers.reports import footprint_intervals as intervals
from workers.reports import impacts
from workers.reports.aggregator import Key
from workers.reports.assortment import Quantities
from workers.reports.filters import KINDS, SQL, Filter, Tree, filter_of, range_of
from workers.reports.periods import Range, day_of
from workers.reports.query import ReportProgress, has_sales, snapshot
from workers.reports.rendering import Names, coverage
from workers.reports.result import Answer
from workers.rollups.codec import Array

_EVIDENCE = {f"{name}_items": name for name in ("measured", "modelled", "category_average")}
_BOUNDS = tuple(f"{name}_{bound}" for name in CODES for bound in intervals.Bounds._fields)
UNITS = {
    "units": "units",
    "items": "items",
    **{one.code: one.unit for one in INDICATORS},
    **{f"{one.code}_{bound}": one.unit for one in INDICATORS for bound in intervals.Bounds._fields},
    "items_covered": "share of items",
    "items_measured": "share of items",
    **dict.fromkeys(_EVIDENCE, "items"),
    "avoided": "unit of the indicator",
}
METHOD = (
    "basis sales: units sold times the figure per unit; basis assortment: the figure per unit of each distinct item, "
    "observed or with figures of its own and no price; a figure is the item's own, else its product type's per "
    "kilogram times its weight, else that of the nearest category; items without any figure count in units and items, "
    "not in the sums, and a sum is null where no item of the group has a figure; an item is counted under the best "
    "that its figures rest on; low to high are the middle 95 % of a sum and central its median, above the sum of "
    "medians: figures are log-normal, those of one factor share its error, all others err independently; contributors "
    "have the largest shares of a sum; avoided is the displacement rate times the bounds of what the units sold cause"
)
ROUNDING = {
    **dict.fromkeys((*CODES, *_BOUNDS), NINE_DIGITS),
    **{f"avoided.{bound}": NINE_DIGITS for bound in intervals.Bounds._fields},
    **dict.fromkeys(("items_covered", "items_measured", "contributors.share"), SIX_DECIMALS),
}
_FIGURES = [
    ("basis", pa.string()),
    ("items", pa.int64()),
    ("units", pa.int64()),
    *((name, pa.float64()) for name in CODES),
    *((name, pa.float64()) for name in _BOUNDS),
    (
        "contributors",
        pa.list_(pa.struct([("indicator", pa.string()), ("iid", pa.string()), ("share", pa.float64())])),
    ),
    ("items_covered", pa.float64()),
    ("items_measured", pa.float64()),
    *((name, pa.int64()) for name in _EVIDENCE),
    (
        "avoided",
        pa.list_(
            pa.struct([("indicator", pa.string()), *((bound, pa.float64()) for bound in intervals.Bounds._fields)])
        ),
    ),
]


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute a rollup.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, JobRefused, and what `report_progress` raises to stop it.
    """
    displacement = requested_displacement(parameters.get("displacement"), parameters.get("displacement_rate"))
    with snapshot(connection):
        tree = Tree.read(connection)
        # A unit was sold and an item exists, whatever price was noted.
        chosen = replace(filter_of(connection, tree, parameters), outliers=True)
        days = range_of(connection, chosen, parameters)
        basis = _basis(connection, tree, chosen, days, parameters.get("basis"))
        report_progress("figures", 0, None)
        footprints = impacts.read(connection, tree, chosen)
        counted = replace(chosen, kinds=KINDS["sale" if basis == "sales" else "both"])
        quantities = Quantities(connection, tree, counted, days, once=basis == "assortment")
        months = list(days.months())
        for done, month in enumerate(months):
            report_progress("reading", done, len(months))
            quantities.add(month)
        if basis == "assortment":
            quantities.add_unpriced()
        report_progress("reading", len(months), len(months))
        keys = quantities.keys
        report_progress("intervals", 0, None)
        sums = _sums(connection, quantities, footprints, basis)
        names = Names.read(connection, tree, chosen, keys)
    rate = displacement.rate if displacement and basis == "sales" else None
    return Answer(
        _table(keys, [{**row, "avoided": _avoided(row, rate)} for row in sums], chosen, names),
        days.first,
        days.last,
        coverage(days, quantities.seen),
        UNITS,
        METHOD,
        ROUNDING,
        basis=basis,
        displacement=displacement,
        ended_by=days.ended_by,
    )


def _basis(connection: Connection, tree: Tree, chosen: Filter, days: Range, basis: str | None) -> str:
    if basis is not None:
        if basis not in BASES:
            raise InvalidParameter("basis", f"must be one of {', '.join(BASES)}")
        return basis
    return "sales" if has_sales(connection, tree, chosen, days) else "assortment"


def _sums(
    connection: Connection, quantities: Quantities, footprints: impacts.Footprints, basis: str
) -> list[dict[str, Any]]:
    """Return each segment's figures."""
    segment, item, units = quantities.totals()
    count = len(quantities.keys)
    position = footprints.positions(item)
    figures, evidence = footprints.figures[position], footprints.evidence[position]
    amounts = intervals.Amounts(segment, item, position, units)
    items = np.bincount(segment, minlength=count)
    by_evidence = {
        name: np.bincount(segment[evidence == impacts.EVIDENCE.index(name)], minlength=count)
        for name in impacts.EVIDENCE
    }
    sold = np.bincount(segment, weights=units, minlength=count).astype("i8").tolist()
    columns: dict[str, list[Any]] = {
        "basis": [basis] * count,
        "items": items.tolist(),
        "units": sold if basis == "sales" else [None] * count,
    }
    for n, name in enumerate(CODES):
        columns[name] = _total(segment, figures[:, n], units, count)
        bounds = intervals.bounds(amounts, footprints, n, count)
        columns |= {f"{name}_{bound}": values for bound, values in bounds._asdict().items()}
    columns["contributors"] = _contributors(connection, amounts, footprints, count)
    columns["items_covered"] = _shares(items - by_evidence["none"], items)
    columns["items_measured"] = _shares(by_evidence["measured"], items)
    columns |= {name: by_evidence[evidence].tolist() for name, evidence in _EVIDENCE.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _contributors(
    connection: Connection, amounts: intervals.Amounts, footprints: impacts.Footprints, count: int
) -> list[list[dict[str, Any]]]:
    """Return for each segment the items that its sums owe most to, by indicator."""
    contributors = list(intervals.contributors(amounts, footprints))
    named = connection.execute(SQL.iids, (sorted({one.item for one in contributors}),)).fetchall()
    iids: dict[int, str] = dict(named)
    rows: list[list[dict[str, Any]]] = [[] for _ in range(count)]
    for one in contributors:
        rows[one.segment].append({"indicator": one.indicator, "iid": iids[one.item], "share": one.share})
    return rows


def _avoided(row: dict[str, Any], rate: float | None) -> list[dict[str, Any]] | None:
    """Return what the units of a row avoid, an entry for each indicator with a figure; None without a rate."""
    if rate is None:
        return None
    known = (name for name in CODES if row[f"{name}_central"] is not None)
    return [{"indicator": name, **_scaled(row, name, rate)} for name in known]


def _scaled(row: dict[str, Any], name: str, rate: float) -> dict[str, float]:
    return {bound: float(f"{rate * row[f'{name}_{bound}']:.9g}") for bound in intervals.Bounds._fields}


def _total(segment: Array, figures: Array, units: Array, count: int) -> list[float | None]:
    known = ~np.isnan(figures)
    total = np.bincount(segment[known], weights=(figures * units)[known], minlength=count)
    there = np.bincount(segment[known], minlength=count) > 0
    return [
        float(f"{value:.9g}") if is_there else None
        for value, is_there in zip(total.tolist(), there.tolist(), strict=True)
    ]


def _shares(part: Array, items: Array) -> list[float]:
    return [round(float(n / whole), 6) for n, whole in zip(part, items, strict=True)]


def _table(keys: list[Key], sums: list[dict[str, Any]], chosen: Filter, names: Names) -> pa.Table:
    schema = pa.schema([("period", pa.date32()), *((name, pa.string()) for name in chosen.group_by), *_FIGURES])
    rows = [
        {"period": day_of(key.period), **names.of(chosen.group_by, key), **row}
        for key, row in zip(keys, sums, strict=True)
    ]
    rows.sort(key=lambda row: (row["period"], *((row[name] is None, row[name]) for name in chosen.group_by)))
    return pa.Table.from_pylist(rows, schema)
